"""How messages name a fault: by its section of the case, and its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from groundswell.errors import InputError


def fault_label(number: int, name: str) -> str:
    """The section and the name of a fault, such as `fault[0] (main)`."""
    return f"fault[{number}] ({name})"


@contextmanager
def fault_named(number: int, name: str) -> Iterator[None]:
    """Begin messages of invalid input with the label of the fault."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{fault_label(number, name)}: {error}") from error
