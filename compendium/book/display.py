"""What experiments show, by the helpers that stand beside the notebooks."""

from compendium.beside import load_beside

_helpers = load_beside("helpers")
markdown_table, number = _helpers.markdown_table, _helpers.number
scientific, show, show_table = _helpers.scientific, _helpers.show, _helpers.show_table
use_style = _helpers.use_style
