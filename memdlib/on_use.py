"""Names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable
from importlib import import_module


def on_use(package: str, modules: dict[str, list[str]]) -> tuple[Callable, Callable]:
    """Functions that a package takes as its ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package : str
    modules : dict
        Names of modules in the package, to the public names that they define.

    Returns
    -------
    getattr, dir : callable

    References
    ----------
    .. [1] PEP 562, Module __getattr__ and __dir__.
    """
    places = {name: module for module, names in modules.items() for name in names}

    def get(name: str):
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted(vars(sys.modules[package]).keys() | places)

    return get, names
