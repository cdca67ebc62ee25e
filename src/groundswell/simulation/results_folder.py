"""The results folder of a run: one run at a time writes to it, and stale files are removed."""

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
    """The given folder, or the one that the case names."""
    return Path(folder) if folder is not None else case.resolve(case.output.directory)


def require_writable(folder: Path) -> None:
    """Check that files can be written to a folder, or to its nearest existing ancestor.

    Raises:
        InputError: there is no permission, or a part of the path is not a folder.
    """
    with disk_errors(folder), TemporaryFile(dir=existing_ancestor(folder)):
        pass


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Create the folder and lock it, so that two runs do not write into each other's files.

    Raises:
        InputError: another run has locked it, or it cannot be created.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def require_unclaimed(folder: Path) -> None:
    """Raise InputError if another run has locked the folder."""
    if folder.is_dir():
        with claimed(folder):
            pass


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some network file systems cannot lock folders; the run continues without a lock.
        if error.errno == errno.EWOULDBLOCK:
            raise InputError(
                f"another run is writing to {folder}; wait for it, or choose another folder"
            ) from error


def relative(folder: Path, files: Iterable[Path]) -> list[str]:
    """Paths of files relative to the folder that holds them."""
    return [path.relative_to(folder).as_posix() for path in files]


def remove_stale(folder: Path, before: Iterable[str], now: Iterable[str]) -> None:
    """Delete the files of an earlier run that this run did not replace."""
    for name in set(before) - set(now):
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()):  # the names come from a file: do not trust them
            path.unlink(missing_ok=True)
