"""The on-disk cache of compiled kernels and of fits, shared by all processes of a user.

An entry is one file, named by the hash of everything that it depends on. Building takes a lock, so
that a thousand ranks that start together compile once. A finished entry is renamed into place, so
that no reader sees a partial file. If the cache exceeds its limit, the least recently used entries
are deleted.
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
SUFFIXES = {".so", ".cubin", ".json"}


def default_folder() -> Path:
    """GROUNDSWELL_CACHE, or a folder in the user's cache (XDG base directory specification)."""
    if chosen := os.environ.get("GROUNDSWELL_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "groundswell"


@dataclass(frozen=True)
class KernelCache:
    """A cache of compiled kernels.

    Args:
        folder: contains the entries; created when the first entry is built.
        limit: largest size of all entries, bytes.
    """

    folder: Path
    limit: int = DEFAULT_LIMIT

    def get(self, name: str, build: Callable[[Path], object]) -> Path:
        """Path of an entry.

        Args:
            name: file name of the entry.
            build: writes the entry to the given path; called if the entry does not exist.

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
        """Paths of the entries, least recently used first."""
        found = self._stat_entries()
        return sorted(found, key=lambda path: found[path].st_mtime)

    def size(self) -> int:
        """Size of all entries, bytes."""
        return sum(entry.st_size for entry in self._stat_entries().values())

    def clear(self) -> None:
        """Delete every entry."""
        for entry in self.entries():
            entry.unlink(missing_ok=True)

    def _stat_entries(self) -> dict[Path, os.stat_result]:
        """Paths and file status of the entries. The names of unfinished files begin with a dot."""
        found = {}
        for path in self.folder.glob("[!.]*") if self.folder.is_dir() else ():
            if path.suffix in SUFFIXES:
                with suppress(FileNotFoundError):  # another process may have deleted it
                    found[path] = path.stat()
        return found

    def _build(self, entry: Path, build: Callable[[Path], object]) -> None:
        with self._converted_errors():
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=entry.suffix)
            os.close(handle)
        try:
            build(Path(name))
            with self._converted_errors():
                Path(name).replace(entry)
        finally:
            Path(name).unlink(missing_ok=True)

    def _prune(self, keep: Path) -> None:
        found = self._stat_entries()
        excess = sum(entry.st_size for entry in found.values()) - self.limit
        for path in sorted(found, key=lambda path: found[path].st_mtime):
            if excess <= 0:
                return
            if path != keep:
                excess -= found[path].st_size
                path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with self._converted_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f".{name}.lock").open("w")
        with lock:
            with self._converted_errors():
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        with suppress(OSError):
            Path(lock.name).unlink()

    @contextmanager
    def _converted_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BackendError(
                f"the kernel cache {self.folder} cannot be written ({error.strerror}); "
                "set GROUNDSWELL_CACHE to a folder that can"
            ) from error
