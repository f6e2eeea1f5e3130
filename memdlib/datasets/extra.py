"""Packages of the extra ``data``, imported only when something needs them."""

import warnings
from importlib import import_module
from types import ModuleType


def from_extra(name: str, purpose: str) -> ModuleType:
    """Import an optional package, or name the extra that installs it.

    Parameters
    ----------
    name : str
        Of the package.
    purpose : str
        What needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it is not installed; says how to install it.

    Examples
    --------
    >>> from memdlib.datasets.extra import from_extra
    >>> from_extra("pandas", "as_frame=True").__name__
    'pandas'
    """
    try:
        with warnings.catch_warnings():
            # tqdm, which pooch imports, complains in a kernel that has no ipywidgets
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {name}, which cannot be imported ({error}); "
            "install it with: pip install 'memdlib[data]'"
        ) from error
