"""What experiments show, by the helpers that stand beside the notebooks."""

from compendium.beside import load_beside

_helpers = load_beside("helpers")
markdown_table = _helpers.markdown_table
number = _helpers.number
scientific = _helpers.scientific
show = _helpers.show
show_table = _helpers.show_table
use_style = _helpers.use_style
