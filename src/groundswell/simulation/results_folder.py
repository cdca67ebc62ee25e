"""The folder of a run's results: one run at a time writes there, and nothing stale stays behind."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from groundswell.case import Case
from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors, existing_ancestor


def folder_of(case: Case, folder: str | Path | None) -> Path:
    """The folder that was asked for, or the one that the case names."""
    return Path(folder) if folder is not None else case.resolve(case.output.directory)


def require_writable(folder: Path) -> None:
    """See that files can be written in a folder, or where it will be made; leaves no trace.

    Raises:
        InputError: no permission, or something in the path is no folder.
    """
    with disk_errors(folder), TemporaryFile(dir=existing_ancestor(folder)):
        pass


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make the folder and hold it: two runs in one folder would write into each other's files.

    Raises:
        InputError: another run holds it, or it cannot be made.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some network file systems lock no folders; a run is not refused for that.
        if error.errno == errno.EWOULDBLOCK:
            raise InputError(
                f"another run is writing to {folder}; wait for it, or choose another folder"
            ) from error


def relative(folder: Path, files: Iterable[Path]) -> list[str]:
    """Names of files, as seen from the folder that holds them."""
    return [path.relative_to(folder).as_posix() for path in files]


def remove_stale(folder: Path, before: Iterable[str], now: Iterable[str]) -> None:
    """Delete the files that an earlier run left in the folder and this one did not replace."""
    for name in set(before) - set(now):
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()):  # the list is read from a file: trust it so far
            path.unlink(missing_ok=True)
