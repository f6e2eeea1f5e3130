"""The modules that stand beside the notebooks, for the code of the compendium."""

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

NOTEBOOKS = Path(__file__).parents[1] / "book" / "notebooks"


@cache
def load_beside(name: str) -> ModuleType:
    """Load ``helpers`` or ``rules``, which a notebook imports from its own folder."""
    spec = spec_from_file_location(name, NOTEBOOKS / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
