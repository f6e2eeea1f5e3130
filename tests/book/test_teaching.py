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


TEACH = (root() / "book" / "teach.md").read_text(encoding="utf-8")
TITLE_AND_GRADE = re.compile(
    r":::\{exercise-start\}\n:label: (?P<label>[\w-]+)\n:::\n"
    r"\*\*(?P<title>[^*]+)\*\* \*\((?P<grade>[\w-]+)\)\*"
)
READ_BEFORE = re.compile(
    r"(?m)^\|(?: [^|{]* \|| \|)? \{ref\}`([\w-]+)` \| (\d+) \|(?: \*([^*]+)\* \|)?$"
)
TO_DO = re.compile(r"(?m)^\| \{ref\}`([^`<]+) <([\w-]+)>` \| ([\w-]+) \|")
SHOWN = re.compile(r"(?s)\*\*Show\*\* (.*?)\n\n")
SESSIONS = re.findall(r"(?ms)^## Session \d: .*?(?=^## )", TEACH)


def chapter_of(label):
    """The chapter whose title has this label."""
    (found,) = [
        path.stem
        for path in CHAPTERS.glob("*.md")
        if re.search(rf"(?m)^\({label}\)=\n# ", path.read_text(encoding="utf-8"))
    ]
    return found


def test_five_sessions_take_the_path_in_its_order():
    path = [label for session in SESSIONS for label, *_ in READ_BEFORE.findall(session)]
    listed = re.findall(r"(?m)^\d\. .*?\{ref\}`([\w-]+)`", text_of("index"))
    assert len(SESSIONS) == 5
    assert path == [*listed, "your-data"]


@pytest.mark.parametrize(("label", "minutes", "section"), READ_BEFORE.findall(TEACH))
def test_what_is_read_takes_the_time_that_its_chapter_states(label, minutes, section):
    text = text_of(chapter_of(label))
    assert re.search(r"Reading time: (\d+)\s+minutes", text)[1] == minutes
    headings = re.findall(r"(?m)^## (.*)$", text.replace("$", ""))
    assert not section or section in headings


@pytest.mark.parametrize("session", SESSIONS, ids=range(1, 6))
def test_exercises_of_a_session_are_those_of_its_chapters(session):
    exercises = set()
    for label, *_ in READ_BEFORE.findall(session):
        exercises |= set(TITLE_AND_GRADE.findall(text_of(chapter_of(label))))
    planned = [(label, title, grade) for title, label, grade in TO_DO.findall(session)]
    assert set(planned) <= exercises
    assert {grade for _, _, grade in planned} == set(GRADES)
    assert "After this session students can" in session


@pytest.mark.parametrize("session", SESSIONS, ids=range(1, 6))
def test_a_session_shows_the_movable_figures_of_its_chapters(session):
    explained = root() / "book" / "_static" / "explain"
    movable = {script.stem for script in explained.glob("*.js")}
    drawn = "".join(
        text_of(chapter_of(label)) for label, *_ in READ_BEFORE.findall(session)
    )
    shown = re.findall(r"<([\w-]+)>`", SHOWN.search(session)[1])
    assert {name for name in movable if f'"{name}",' in drawn} <= set(shown)
    for name in set(shown) - {"front-chain"}:
        assert f'"{name}",' in drawn, f"no chapter of the session has {name}"


def test_the_plan_of_a_session_fills_it():
    plan = TEACH.partition("\n## A session\n")[2].partition("\n## ")[0]
    minutes = re.findall(r"(?m)^\| (\d+) \|", plan)
    assert sum(map(int, minutes)) == int(re.search(r"sessions of (\d+)", TEACH)[1])
