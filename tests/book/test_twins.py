"""Stored chapters are those of their sources: the same code, the same prose.

nbval compares their outputs with a new execution (``make notebooks``).
"""

from pathlib import Path

from compendium.execution.chapters import out_of_step

ROOT = Path(__file__).parents[2]


def test_every_chapter_is_stored_with_the_code_and_the_prose_of_its_source():
    assert out_of_step(ROOT) == []
