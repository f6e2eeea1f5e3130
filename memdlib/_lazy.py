"""Public names that load on use, by ``__getattr__`` and ``__dir__`` (PEP 562)."""

from collections.abc import Callable
from importlib import import_module


def attach(
    package: str, homes: dict[str, str], *others: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Both and ``__all__``, from the module of each name and the other modules."""
    modules = {*homes.values(), *others}

    def load(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(load(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted(modules | homes.keys()), list(homes)
