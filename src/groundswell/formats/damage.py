"""Damaged files: any error of the library that reads one becomes one readable line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundswell.errors import GroundswellError, InputError, reason_of


@contextmanager
def damage_reported(path: str | Path, kind: str, remedy: str = "write it again") -> Iterator[None]:
    """Raise InputError for any failure to read the file in the block.

    Args:
        kind: what the file holds, such as "NetCDF".
        remedy: the end of the message.
    """
    try:
        yield
    except GroundswellError:
        raise
    except Exception as error:  # readers of damaged files raise nearly every type
        raise InputError(
            f"{path} cannot be read as {kind}: it is damaged or of another kind "
            f"({reason_of(error)}); {remedy}"
        ) from error
