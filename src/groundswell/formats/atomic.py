"""Atomic writes, and errors of the file system with their remedies."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groundswell.errors import DiskFull, InputError, RunFailed

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_RESOURCE_LIMITS = {errno.EFBIG, errno.EMFILE, errno.ENFILE}
_INVALID_PATH = {
    errno.ENOENT: "its folder was removed or cannot hold files; choose another",
    errno.ENOTDIR: "a part of the path is not a folder; choose another",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.EEXIST: "a file or a broken link has this name; remove it or choose another",
    errno.ENAMETOOLONG: "use a shorter path; most file systems allow 255 bytes for a name and "
    "4,096 for a path",
    errno.ELOOP: "its symbolic links form a circle; choose another",
}
_LONGEST_PATH = 200  # characters of a path in a message


@contextmanager
def atomic_write(path: str | Path, size: int = 0) -> Iterator[Path]:
    """Write a file atomically: to the yielded temporary path, renamed to `path` after the block.

    Data are flushed to the disk before the rename, so that even a power failure leaves no partial
    file under the final name. If the block fails, the temporary file is removed and an older `path`
    is unchanged.

    Args:
        path: final name; missing folders are created.
        size: number of bytes to reserve on the disk beforehand, if known.

    Raises:
        DiskFull: the disk is full.
        RunFailed: the disk fails.
        InputError: there is no permission to write, or `path` is a folder.
    """
    path = Path(path)
    part = temporary_path(path)
    with disk_errors(path):
        _make_parent(path)
        try:
            if size:
                reserve(part, 0, size)
            yield part
            sync(part)
            part.replace(path)
            sync(path.parent)
        except BaseException:
            # Report the first failure only.
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def temporary_path(path: Path) -> Path:
    """The temporary sibling that `atomic_write` writes to; a killed process leaves it behind."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def disk_errors(path: str | Path) -> Iterator[None]:
    """Translate operating-system errors while writing `path` into errors with a remedy.

    HDF5 reports some failed writes as a RuntimeError whose text contains the errno; these too.

    Raises:
        DiskFull: the disk is full.
        RunFailed: the disk fails.
        InputError: there is no permission to write, or the path cannot hold a file.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        code = _errno(error)
        if code is None:
            raise
        raise _translated(Path(path), code) from error


def resource_error(error: OSError) -> RunFailed | None:
    """RunFailed for a full disk or an exceeded resource limit; None for other errors."""
    if error.errno not in _DISK_FULL | _RESOURCE_LIMITS:
        return None
    translated = _translated(Path(error.filename or "a file"), error.errno)
    assert isinstance(translated, RunFailed)
    return translated


def reserve(path: Path, start: int, size: int) -> None:
    """Allocate `size` bytes from offset `start` of `path`, so that writing them cannot fail.

    Raises:
        OSError: the disk is full or the quota is exceeded.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        os.posix_fallocate(descriptor, start, size)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Flush the content of a file, or the entries of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def existing_ancestor(path: Path) -> Path:
    """The path, or its closest parent that exists."""
    return next(p for p in (path.absolute(), *path.absolute().parents) if exists(p))


def exists(path: Path) -> bool:
    """Whether a path exists; False also for invalid paths, such as a name that is too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _make_parent(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _errno(error: OSError | RuntimeError) -> int | None:
    code = getattr(error, "errno", None)
    if code is None and (match := re.search(r"errno = (\d+)", str(error))):
        code = int(match[1])
    return code


def _translated(path: Path, code: int) -> InputError | RunFailed:
    reason, shown = os.strerror(code), _shortened(path)
    if code in _DISK_FULL:
        return DiskFull(f"disk full while writing {shown}: {reason}, {_free_space(path)}")
    if code in _RESOURCE_LIMITS:
        return RunFailed(
            f"{shown} could not be written: {reason}; raise the limits of the shell "
            "(`ulimit -a` shows them), then start again"
        )
    if code in _DENIED:
        return InputError(
            f"no permission to write {shown}: {reason}; make its folder writable or choose another"
        )
    if code in _INVALID_PATH:
        return InputError(f"{shown} cannot be written: {reason}; {_INVALID_PATH[code]}")
    return RunFailed(f"{shown} could not be written: {reason}; check the disk, then start again")


def _shortened(path: Path) -> str:
    """A path as one line of text for a message; a long one loses its middle part."""
    text, half = repr(str(path))[1:-1], _LONGEST_PATH // 2  # repr escapes line breaks
    return text if len(text) <= _LONGEST_PATH else f"{text[:half]}...{text[-half:]}"


def _free_space(path: Path) -> str:
    """Free space of the disk of `path`, as text."""
    existing = existing_ancestor(path.parent)
    return f"{shutil.disk_usage(existing).free / 1e6:,.1f} MB free in {existing}"
