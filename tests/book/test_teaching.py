"""The book as a course: a path with its own order, exercises, quizzes."""

import re

import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from compendium.project import root

CHAPTERS = root() / "book" / "chapters"
GRADES = ("warm-up", "standard", "challenge")
LABEL = re.compile(r"(?m)^\(([\w-]+)\)=$")
STRIP = re.compile(r"(?s):::\{div\} path\n(.*?)\n:::")
NEXT = re.compile(
    r"(?s):::\{div\} path next\n.*?\{ref\}`(?:[^`<]*<)?([\w-]+)>?`.*?\n:::"
)
EXERCISE = re.compile(r"(?s):::\{exercise-start\}\n(.*?):::\{exercise-end\}")


def taught():
    """Chapters of the two numbered parts that are read in order."""
    contents = parse_toc_yaml(root() / "_toc.yml")
    parts = {part.caption: part for part in contents.root.subtrees}
    return [
        pytest.param(str(page).rsplit("/", 1)[-1], id=str(page).rsplit("/", 1)[-1])
        for caption in ("Learn", "Evidence")
        for page in parts[caption].files()
    ]


def text_of(chapter):
    return (CHAPTERS / f"{chapter}.md").read_text(encoding="utf-8")


def test_the_path_is_one_line_of_seven_chapters():
    labelled = {}
    for path in CHAPTERS.glob("*.md"):
        for label in LABEL.findall(path.read_text(encoding="utf-8")):
            labelled[label] = path.stem
    chapter, walked = "maximum-entropy", []
    while chapter != "your-data":
        text = text_of(chapter)
        walked.append(chapter)
        strip = STRIP.search(text)[1]
        assert f"The path, {len(walked)} of 7." in strip
        following = NEXT.search(text)[1]
        assert f"`{following}`" in strip.split("Next:")[1]
        if len(walked) > 1:
            before = re.search(r"Before: \{ref\}`([\w-]+)`", strip)[1]
            assert labelled[before] == walked[-2]
        chapter = labelled[following]
    assert len(walked) == 7
    listed = re.findall(r"(?m)^\d\. .*?\{ref\}`([\w-]+)`", text_of("index"))
    assert [labelled[label] for label in listed] == walked


@pytest.mark.parametrize("chapter", taught())
def test_a_chapter_has_graded_exercises_with_solutions(chapter):
    text = text_of(chapter)
    exercises = EXERCISE.findall(text)
    assert len(exercises) >= 3
    grades = [re.search(r"\*\*[^*]+\*\* \*\(([\w-]+)\)\*", body) for body in exercises]
    assert all(grades), "each has its grade after its title"
    assert {grade[1] for grade in grades} == set(GRADES)
    labels = re.findall(r":::\{exercise-start\}\n:label: ([\w-]+)", text)
    assert re.findall(r":::\{solution-start\} ([\w-]+)", text) == labels


@pytest.mark.parametrize("chapter", taught())
def test_a_chapter_has_a_quiz(chapter):
    _, _, quiz = text_of(chapter).partition("\n## Quick quiz\n")
    questions = quiz.partition("\n## ")[0]
    assert len(re.findall(r"(?m)^\d\. ", questions)) == 3
    assert questions.count(":::{dropdown} Answer") == 3
