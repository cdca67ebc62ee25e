"""The store of an ensemble: one Zarr hierarchy (version 3) with a group for each run.

    survey.zarr/                 the hierarchy, which xarray reads
      zarr.json                  attributes: the plan's title and the version of this format
      shot-1/                    a run; attributes: status, settings, digest of the case, summary
        seismograms/ ...         one group for each dataset
      log/shot-1/                date, host and times of the run: the only difference between two
                                 ensembles of the same plan
    .survey.zarr.work/           claims, unfinished runs, and groups that are being written

A group is written in the work folder, flushed to the disk and renamed, so that the store never
contains an incomplete group. The groups are the only record of the state of runs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.ensembles.json_values import json_values
from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors, sync
from groundswell.formats.text import read_json
from groundswell.simulation.folder_lock import is_locked, locked

if TYPE_CHECKING:
    import xarray

METADATA = "zarr.json"  # of a group or an array
LOG = "log"
FORMAT = "groundswell ensemble"
VERSION = 1
SYNCS_AT_ONCE = 16
COMPLETE, FAILED, MISSING = "complete", "failed", "missing"

Attributes = dict[str, Any]


@dataclass(frozen=True)
class Store:
    """An ensemble's store.

    Args:
        path: its folder.
    """

    path: Path

    @cached_property
    def work(self) -> Path:
        """The folder of unfinished work, on the same file system."""
        return self.path.with_name(f".{self.path.name}.work")

    # --- the store as a whole ---------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether the store has been created."""
        return (self.path / METADATA).exists()

    def create(self, attributes: Mapping[str, object]) -> None:
        """Create an empty store unless it exists; several processes may do so at once.

        Raises:
            InputError: the folder is not a store, or there is no permission to create it.
            DiskFull: the disk is full.
        """
        if not self.exists:
            about = {"format": FORMAT, "version": VERSION, **attributes}
            with disk_errors(self.path), self._part("store") as part:
                write_group(part, about)
                write_group(part / LOG, {})
                _publish(part, self.path)
        self.require_format()

    def require_format(self) -> None:
        """Raise InputError unless this is a store of an ensemble."""
        about = _attributes(self.path)
        if about is None or about.get("format") != FORMAT:
            raise InputError(
                f"{self.path} is not the store of an ensemble; give one that `groundswell ensemble "
                "run` has written"
            )
        if about.get("version") != VERSION:
            raise InputError(
                f"{self.path} has version {about.get('version')} of the format, but this version "
                f"of Groundswell reads version {VERSION}; use the version that wrote it"
            )

    @contextmanager
    def _part(self, name: str) -> Iterator[Path]:
        """A temporary folder for a group that is being written; removed in the end."""
        from tempfile import mkdtemp

        parts = self.work / "parts"
        parts.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f"{name}.", dir=parts))
        try:
            yield folder / name
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove_work(self) -> None:
        """Remove the work folder if nothing in it is in use."""
        if not any(is_locked(folder) for folder in (self.work / "claims").glob("*")):
            shutil.rmtree(self.work, ignore_errors=True)

    # --- runs -------------------------------------------------------------------------------------

    @contextmanager
    def claimed(self, name: str) -> Iterator[None]:
        """Claim a run within the block, so that no other process executes it at the same time.

        Raises:
            FolderLocked: another process has claimed it.
            InputError: there is no permission to write.
        """
        with locked(self.work / "claims" / name):
            yield

    def scratch(self, name: str, digest: str) -> Path:
        """The results folder of a run while it is unfinished."""
        return self.work / "runs" / f"{name}.{digest[:16]}"

    def names(self) -> list[str]:
        """Names of the runs in the store, sorted."""
        return sorted(
            path.name for path in self.path.iterdir() if path.is_dir() and path.name != LOG
        )

    def attributes(self, name: str) -> Attributes | None:
        """The attributes of a run's group: status, digest, settings and summary; None without one.

        Raises:
            InputError: the group is damaged.
        """
        folder = self.path / name
        found = _attributes(folder)
        if found is None and folder.exists():  # groups appear as a whole
            raise _damaged(folder / METADATA, folder)
        return found

    def log(self, name: str) -> Attributes:
        """When and where a run was executed, and how long it took."""
        return _attributes(self.path / LOG / name) or {}

    def write(
        self,
        name: str,
        attributes: Mapping[str, object],
        log: Mapping[str, object],
        datasets: Mapping[str, xarray.Dataset] | None = None,
    ) -> None:
        """Write the group of a run, and its entry in the log.

        Raises:
            DiskFull: the disk is full; the group has not been written.
        """
        with disk_errors(self.path / name), self._part(name) as part:
            write_group(part, attributes)
            for path, dataset in (datasets or {}).items():
                _write_dataset(part, path, dataset)
            self._write_log(name, log)
            sync_tree(part)
            _publish(part, self.path / name)

    def _write_log(self, name: str, log: Mapping[str, object]) -> None:
        with self._part(name) as part:
            write_group(part, log)
            shutil.rmtree(self.path / LOG / name, ignore_errors=True)
            _publish(part, self.path / LOG / name)

    def remove(self, name: str) -> None:
        """Remove the group of a run, as a whole."""
        with disk_errors(self.path / name), self._part(name) as part:
            with suppress(FileNotFoundError):
                (self.path / name).rename(part)
            sync(self.path)


def write_group(folder: Path, attributes: Mapping[str, object]) -> None:
    """Write the metadata of a Zarr group."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}
    text = json.dumps(json_values(content), indent=2, sort_keys=True, allow_nan=False)
    (folder / METADATA).write_text(text + "\n", encoding="utf-8")


def sync_tree(folder: Path) -> None:
    """Flush all files and folders below a folder to the disk, several at once as each one waits."""
    with ThreadPoolExecutor(SYNCS_AT_ONCE) as pool:
        for done in [pool.submit(sync, path) for path in [folder, *folder.rglob("*")]]:
            done.result()


def _publish(part: Path, target: Path) -> None:
    """Give a folder its final name, unless another process has already created that folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.rename(target)
    except OSError:
        if not (target / METADATA).exists():
            raise
    sync(target.parent)


def _attributes(folder: Path) -> Attributes | None:
    """The attributes of a group; None if there is no group.

    Raises:
        InputError: its metadata are damaged.
    """
    path = folder / METADATA
    if not path.exists():
        return None
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get("attributes"), dict):
        raise _damaged(path, folder)
    found: Attributes = content["attributes"]
    return found


def _damaged(path: Path, folder: Path) -> InputError:
    state = "is damaged" if path.exists() else "is missing"
    return InputError(f"{path} {state}; remove {folder} and continue with --resume")


def _write_dataset(part: Path, path: str, dataset: xarray.Dataset) -> None:
    from groundswell.ensembles.datasets import write_zarr

    *parents, _ = path.split("/")
    for n in range(len(parents)):
        write_group(part.joinpath(*parents[: n + 1]), {})
    write_zarr(part, path, dataset)
