"""Packages whose public names load on use (PEP 562)."""

from collections.abc import Callable
from importlib import import_module


def attach(
    package: str, homes: dict[str, str], *others: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``homes`` has the module of each name, ``others`` are modules that load, too. Type
    checkers read the same in the stub of the package.
    """
    modules = {*homes.values(), *others}

    def load(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(load(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted(modules | homes.keys()), list(homes)
