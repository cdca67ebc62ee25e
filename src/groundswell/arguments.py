"""Checks of the arguments that users give to functions and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import isfinite
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from groundswell.errors import GroundswellError, InputError, counted, reason_of


def require_arguments(given: Iterable[str], allowed: Sequence[str]) -> None:
    """Require known names of keyword arguments."""
    if unknown := sorted(set(given) - set(allowed)):
        names = ", ".join(allowed)
        raise InputError(f"{', '.join(unknown)}: no such argument; allowed: {names}")


def call_function(name: str, function: Callable[..., Any], *given: Any) -> Any:
    """Call a user's function; what it raises becomes a message that names it.

    Args:
        name: what the message calls the function.
        given: its arguments.
    """
    try:
        return function(*given)
    except (GroundswellError, MemoryError):
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {reason_of(error)}"
        raise InputError(f"{name} cannot be evaluated: the function raised {text}") from error


def is_sequence(given: object) -> bool:
    """Whether it is a sequence or an array with axes, but not text."""
    some = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    return some or getattr(given, "ndim", 0) > 0


def broadcast(name: str, given: Any, count: int, what: str = "axes") -> tuple[Any, ...]:
    """One value for each axis, given for each or once for all; `what` names other things."""
    values = tuple(given) if is_sequence(given) else (given,) * count
    if len(values) != count:
        raise InputError(f"{name} = {given!r}: give one value, or one for each of {count} {what}")
    return values


def integers(given: Any) -> tuple[int, ...] | None:
    """The whole numbers of a sequence; None if it is not a sequence of whole numbers."""
    if not is_sequence(given) or any(isinstance(value, bool) for value in given):
        return None
    with suppress(TypeError):
        return tuple(map(index, given))
    return None


def whole_numbers(
    name: str, given: object, axes: int, below: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """A whole number for each axis, 0 or more."""
    numbers = integers(given)
    most = (n < end for n, end in zip(numbers or (), below or (), strict=False))
    if numbers is None or len(numbers) != axes or min(numbers) < 0 or not all(most):
        end = "" if below is None else f" and below {below}"
        raise InputError(
            f"{name} = {given!r}: give a whole number for each of {counted(axes, 'axis', 'axes')}, "
            f"0 or more{end}"
        )
    return numbers


def whole_number(name: str, given: object) -> int:
    """A whole number."""
    if isinstance(given, bool) or (numbers := integers((given,))) is None:
        raise InputError(f"{name} = {given!r}: give a whole number")
    return numbers[0]


def listed(given: Any) -> Any:
    """A list of the items of a sequence or an array; anything else unchanged, for validation."""
    if not is_sequence(given):
        return given
    return given.tolist() if isinstance(given, np.ndarray) else list(given)


def flag(name: str, given: object) -> bool:
    """True or False, or 1 or 0."""
    if not isinstance(given, (int, np.bool_, np.integer)) or given not in (0, 1):
        raise InputError(f"{name} = {given!r}: give True or False")
    return bool(given)


def flags(name: str, given: Any, axes: int) -> tuple[bool, ...]:
    """True or False for each axis, given for each or once for all."""
    values = tuple(given) if is_sequence(given) else (given,) * axes
    if len(values) != axes or not all(isinstance(v, (bool, np.bool_)) for v in values):
        example = (True, *(False,) * (axes - 1))
        raise InputError(
            f"{name} = {given!r}: give True or False, or one of them for each of "
            f"{counted(axes, 'axis', 'axes')}, such as {example}"
        )
    return tuple(map(bool, values))


def real_numbers(name: str, given: Any, axes: int) -> tuple[Any, ...]:
    """A finite number for each axis, given for each or once for all."""
    values = broadcast(name, given, axes)
    if not all(isinstance(value, Real) and isfinite(value) for value in values):
        raise InputError(f"{name} = {given!r}: give a finite number, or one for each axis")
    return values
