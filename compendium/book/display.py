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
