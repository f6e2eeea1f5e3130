import json

import pytest

from compendium.build.kinds import records_table, runs_below

RUNS = """
[b-one]
title = "Lab record: the first"
notebook = "b.md"
[a]
title = "Another"
notebook = "a.md"
[b-two]
title = "Lab record: the second"
notebook = "b.md"
"""
CONTENTS = """
parts:
  - chapters:
      - file: book/lab-records
        sections:
          - file: book/kinds/some
            sections: [{glob: book/records/b-*}]
          - file: book/kinds/other
            sections: [{file: book/records/a}]
"""


@pytest.fixture
def listed(project):
    project.write("book/experiments/runs.toml", RUNS)
    project.write("_toc.yml", CONTENTS)
    for name, seconds in (("b-one", 42.4), ("b-two", 754)):
        text = json.dumps({"values": {}, "seconds": seconds})
        project.write(f"data/results/{name}.json", text)
    return project.root


def test_the_contents_say_which_records_stand_below_a_page(listed):
    below = {
        kind: [run.name for run in runs_below(listed, f"book/kinds/{kind}")]
        for kind in ("some", "other")
    }
    assert below == {"some": ["b-one", "b-two"], "other": ["a"]}
    with pytest.raises(ValueError, match="lists no lab record below book/kinds/lost"):
        runs_below(listed, "book/kinds/lost")


def test_the_table_names_record_run_and_time(listed):
    head, _, first, second = records_table(listed, "book/kinds/some")
    assert head == "| lab record | run | time |"
    assert first == "| {doc}`the first </book/records/b-one>` | `b-one` | 42 s |"
    assert second.endswith("| `b-two` | 13 min |")


def test_a_run_without_a_result_says_how_to_make_it(listed):
    with pytest.raises(FileNotFoundError, match="make experiments RUNS=a"):
        records_table(listed, "book/kinds/other")
