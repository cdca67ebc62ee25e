"""The lock of a results folder: one run at a time writes to it."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors

NAME = ".groundswell.lock"
_ATTEMPTS = 100  # to lock a folder, which other runs may remove as they end


class FolderLocked(InputError):
    """Another run has locked a folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create and lock a results folder, so that only one run at a time writes to it.

    The lock is a `flock` on a file in the folder. The operating system releases it when the process
    ends, even if the process is killed. Runs on different hosts exclude each other if the file
    system shares locks between hosts, as NFS, GPFS and Lustre (mounted with `flock`) do. A file
    system without locks gives no such protection.

    After the block, empty folders that this function created are removed.

    Raises:
        FolderLocked: another run has locked the folder.
        InputError: it cannot be created.
    """
    with disk_errors(folder):
        created = [path for path in (folder, *folder.parents) if not path.exists()]
        descriptor = _lock(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / NAME).unlink()  # while this process still holds the lock
        os.close(descriptor)
        with suppress(OSError):  # not empty
            for path in created:
                path.rmdir()


def is_locked(folder: Path) -> bool:
    """Whether another run has locked a folder, as far as the file system can tell."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(descriptor)
    return False


def _lock(folder: Path) -> int:
    """Create and lock the file; returns its descriptor."""
    path = folder / NAME
    for _ in range(_ATTEMPTS):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a run that ended has just removed the folder
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if _acquires(descriptor, path):
                return descriptor
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _acquires(descriptor: int, path: Path) -> bool:
    """Lock an open file and return True; close it and return False if `path` is a new file."""
    try:
        _require_lock(descriptor, path.parent)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return True
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return False


def _require_lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno != errno.EWOULDBLOCK:
            return  # the file system has no locks
        holder = os.read(descriptor, 200).decode(errors="replace").strip()
        raise FolderLocked(
            f"another run{holder and f' ({holder})'} is writing to {folder}; wait for it, or "
            "choose another folder"
        ) from error
    with suppress(OSError):  # the text is only for the error message of other runs
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _this_process().encode(), 0)


def _this_process() -> str:
    now = datetime.now().astimezone().isoformat(" ", "seconds")
    return f"process {os.getpid()} on {socket.gethostname()}, since {now}\n"
