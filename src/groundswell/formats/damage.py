"""Damaged files: errors of the library that reads them become `InputError` with one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundswell.errors import GroundswellError, InputError, reason_of


@contextmanager
def read_errors_reported(
    path: str | Path,
    kind: str,
    remedy: str = "write it again",
    *,
    if_missing: str = "correct the name",
) -> Iterator[None]:
    """Raise `InputError` for any exception in the block, which reads the file, or if it is missing.

    Args:
        path: the file.
        kind: expected format or content of the file, such as "NetCDF", for the message.
        remedy: what the user can do, the end of the message.
        if_missing: the same if there is no such file.
    """
    try:
        yield
    except GroundswellError:
        raise
    except Exception as error:  # readers of damaged files raise nearly every type
        if isinstance(error, FileNotFoundError) and not Path(path).exists():
            raise InputError(f"{path} does not exist; {if_missing}") from None
        raise InputError(
            f"{path} cannot be read as {kind}: it is damaged or of another kind "
            f"({reason_of(error)}); {remedy}"
        ) from error
