"""Compiled kernels on disk, shared by every process of a user.

An entry is one file named by the hash of all it depends on. It is built under a lock, so that a
thousand ranks that start together compile once, and renamed into place, so that no reader ever
sees half of one. Oldest entries go first when the folder outgrows its limit.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from groundswell.errors import BackendError

DEFAULT_LIMIT = 512 * 1024**2
SUFFIXES = {".so", ".cubin"}


def default_folder() -> Path:
    """GROUNDSWELL_CACHE, or the user's cache folder (XDG base directory specification)."""
    if chosen := os.environ.get("GROUNDSWELL_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "groundswell"


@dataclass(frozen=True)
class KernelCache:
    """A folder of compiled kernels, at most `limit` bytes of them."""

    folder: Path
    limit: int = DEFAULT_LIMIT

    def get(self, name: str, build: Callable[[Path], None]) -> Path:
        """Path of entry `name`; `build(path)` writes it first if it is not there.

        Raises:
            BackendError: the folder cannot be written.
        """
        entry = self.folder / name
        if not entry.exists():
            with self._locked(name):
                if not entry.exists():
                    self._build(entry, build)
                    self._prune(keep=entry)
        with suppress(OSError):
            os.utime(entry)
        return entry

    def entries(self) -> list[Path]:
        """Finished entries, oldest use first."""
        found = self._found()
        return sorted(found, key=lambda path: found[path].st_mtime)

    def size(self) -> int:
        """Bytes that the finished entries take."""
        return sum(entry.st_size for entry in self._found().values())

    def clear(self) -> None:
        """Delete every entry."""
        for entry in self.entries():
            entry.unlink(missing_ok=True)

    def _found(self) -> dict[Path, os.stat_result]:
        """Finished entries; those under way have a dot in front."""
        found = {}
        for path in self.folder.glob("[!.]*") if self.folder.is_dir() else ():
            if path.suffix in SUFFIXES:
                with suppress(FileNotFoundError):  # another process may have deleted it just now
                    found[path] = path.stat()
        return found

    def _build(self, entry: Path, build: Callable[[Path], None]) -> None:
        with self._writing():
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=entry.suffix)
            os.close(handle)
        try:
            build(Path(name))
            with self._writing():
                Path(name).replace(entry)
        finally:
            Path(name).unlink(missing_ok=True)

    def _prune(self, keep: Path) -> None:
        found = self._found()
        excess = sum(entry.st_size for entry in found.values()) - self.limit
        for path in sorted(found, key=lambda path: found[path].st_mtime):
            if excess <= 0:
                return
            if path != keep:
                excess -= found[path].st_size
                path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f".{name}.lock").open("w")
        with lock:
            with self._writing():
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        with suppress(OSError):
            Path(lock.name).unlink()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BackendError(
                f"the kernel cache {self.folder} cannot be written ({error.strerror}); "
                "set GROUNDSWELL_CACHE to a folder that can"
            ) from error
