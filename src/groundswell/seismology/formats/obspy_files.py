"""Files that ObsPy reads, an optional library."""

from __future__ import annotations

import glob
import warnings
from pathlib import Path
from typing import Any, Literal

from groundswell.errors import InputError, install, reason_of
from groundswell.formats.damage import read_errors_reported

_UNKNOWN = "Unknown format"  # how ObsPy's message begins


def read_with_obspy(
    path: Path | str, reader: Literal["read_events", "read_inventory"], kind: str, remedy: str
) -> tuple[Any, list[str]]:
    """What a function of ObsPy reads from a file, and the first lines of its warnings.

    Args:
        kind: expected format or content, for messages.
        remedy: what the user can do, the end of the message.

    Raises:
        InputError: ObsPy is not installed, or the file is missing, damaged or of another format.
    """
    try:
        import obspy
    except ImportError:
        raise InputError(f"{path}: {kind} needs ObsPy; {install('seismology')}") from None
    _require_file(path, kind)
    with read_errors_reported(path, kind, remedy), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = getattr(obspy, reader)(glob.escape(str(path)))
        except TypeError as error:
            is_unknown = str(error).startswith(_UNKNOWN)
            raise ValueError("ObsPy does not know the format" if is_unknown else error) from error
    texts = [str(w.message) for w in caught if not issubclass(w.category, DeprecationWarning)]
    lines = (text.partition("\n")[0] for text in dict.fromkeys(texts))
    return found, [reason_of(Warning(line)) for line in lines]


def _require_file(path: Path | str, kind: str) -> None:
    try:
        with Path(path).open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot read {kind}: {reason_of(error)}") from None
