"""The results folder of a run: its path, and a check that files can be written to it."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from groundswell.case import Case
from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors

_LONGEST_NAME = 200  # bytes; no file of a run has a longer one


def folder_of(case: Case, folder: str | Path | None) -> Path:
    """The given folder, or the one that the case names."""
    return Path(folder) if folder is not None else case.resolve(case.output.directory)


def require_writable(folder: Path) -> None:
    """Check that files can be written to a folder, or to its nearest existing ancestor.

    Raises:
        InputError: there is no permission, the path is too long, or it is not the path of a folder.
    """
    try:
        with disk_errors(folder):
            with suppress(FileNotFoundError):
                (folder / ("x" * _LONGEST_NAME)).lstat()  # raises if the path is too long
            paths = (folder.absolute(), *folder.absolute().parents)
            closest = next(path for path in paths if os.path.lexists(path))
            if not closest.is_dir():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            with TemporaryFile(dir=closest):
                pass
    except ValueError as error:
        raise InputError(f"{str(folder)!r} is not the name of a folder: {error}") from None
