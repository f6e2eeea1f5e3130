"""What experiments show, by the helpers that stand beside the notebooks."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_BESIDE = Path(__file__).parents[2] / "book" / "notebooks" / "helpers.py"
_spec = spec_from_file_location("helpers", _BESIDE)
_helpers = module_from_spec(_spec)
_spec.loader.exec_module(_helpers)
markdown_table, number = _helpers.markdown_table, _helpers.number
scientific, show, show_table = _helpers.scientific, _helpers.show, _helpers.show_table
use_style = _helpers.use_style


def checked(what: str, how: str, *, error=None, within=None) -> None:
    """Say what a cell has checked; goes with the last cell that checks a statement."""
    bound = f"Checked: {what}, {how}"
    if within is not None:
        assert 0.0 <= error <= within, f"{bound}: error {error:g}, at most {within:g}"
        bound = f"{bound}, error at most {within:g}"
    _helpers.display({"text/plain": bound}, raw=True)
