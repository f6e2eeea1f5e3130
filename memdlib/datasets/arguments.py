"""Refuse an argument out of its range, with its name, its value and the range."""

import numbers
from typing import Any

import numpy as np


def require_integer(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Raise ValueError, naming the argument, unless it is an integer in the range."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")


def require_number(name: str, value: Any, low: float, strict: bool = False) -> None:
    """Raise ValueError, naming the argument, unless it is finite and high enough."""
    number = isinstance(value, numbers.Real) and low <= value < np.inf
    if not number or (strict and value == low):
        allowed = f"above {low}" if strict else f"of at least {low}"
        raise ValueError(f"{name} must be a finite number {allowed}, got {value!r}")
