"""Files of a run, which have temporary names until they replace those of an earlier run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundswell.errors import GroundswellError
from groundswell.formats.appendable_hdf5 import AppendableFile
from groundswell.formats.atomic import disk_errors, sync
from groundswell.outputs.ring_buffer import Output
from groundswell.simulation import checkpoint
from groundswell.simulation.summary import NAME, files_in, relative, write_summary

STAGING = ".results.part"


@dataclass
class RunFiles:
    """The files of a run in its results folder.

    Files that grow during the run have temporary names. Files that are known only at the end are
    first written to a staging folder.

    Args:
        folder: the results folder.
        resumable: whether the run writes checkpoints there.

    Attributes:
        outputs: the growing files, and the ring buffers that feed them.
        all_steps_made: whether all steps are done; incomplete files are then kept after a failure.
    """

    folder: Path
    resumable: bool = True
    outputs: Mapping[str, Output] = field(default_factory=dict, init=False)
    all_steps_made: bool = field(default=False, init=False)

    @property
    def checkpoint(self) -> Path:
        """The path of the checkpoint."""
        return self.folder / checkpoint.NAME

    @property
    def checkpoints(self) -> Path | None:
        """The folder for checkpoints, if the run writes any."""
        return self.folder if self.resumable else None

    @property
    def growing(self) -> list[AppendableFile]:
        """The growing files that this rank writes."""
        return [output.writer for output in self.outputs.values() if output.writer]

    def require_unchanged(self, digests: Mapping[str, str]) -> None:
        """Raise InputError if a growing file is not as it was when the checkpoint was written."""
        for name, digest in digests.items():
            if writer := self.outputs[name].writer:
                writer.require_digest(digest)

    @property
    def size(self) -> int:
        """Size of the incomplete files and of the checkpoint, bytes."""
        found = [self.checkpoint, *self._incomplete()]
        return sum(path.stat().st_size for path in found if path.exists())

    def _incomplete(self) -> set[Path]:
        return {path for path in self.folder.glob("*.part") if path.is_file()}

    # --- the end of a run -------------------------------------------------------------------------

    def complete(self, write: Callable[[Path], Sequence[Path]]) -> list[str]:
        """Complete all files under temporary names; all ranks must call it.

        Args:
            write: function that writes the final files to a folder; rank 0 returns their paths.

        Returns:
            The final names of all files, relative to the results folder; on rank 0.
        """
        for file in self.growing:
            file.complete()
        staging = self.folder / STAGING
        names = relative(staging, write(staging))
        return [*relative(self.folder, [file.path for file in self.growing]), *names]

    def publish(self, summary: Mapping[str, Any]) -> None:
        """Give all files their final names, and remove those of an earlier run; on rank 0.

        The earlier summary is removed first, and the new one is moved last. If a folder has a
        summary, its results are therefore complete and belong to this summary.

        Args:
            summary: the content of the new summary; its `files` are the result of `complete`.
        """
        staging = self.folder / STAGING
        write_summary(staging, summary)
        stale = set(files_in(self.folder)) - set(summary["files"])
        growing = set(relative(self.folder, [file.path for file in self.growing]))
        with disk_errors(self.folder):
            (self.folder / NAME).unlink(missing_ok=True)
            for file in self.growing:
                file.finish()
            for name in [*(name for name in summary["files"] if name not in growing), NAME]:
                _move(staging / name, self.folder / name)
            sync(self.folder)
            shutil.rmtree(staging)
            _remove(self.folder, stale)
        checkpoint.remove(self.folder)

    # --- runs that cannot be continued ------------------------------------------------------------

    def remove_unfinished(self) -> None:
        """Delete the checkpoint, with its parts, and the incomplete files; on rank 0."""
        checkpoint.remove(self.folder)
        with disk_errors(self.folder):
            shutil.rmtree(self.folder / STAGING, ignore_errors=True)
            for path in self._incomplete():
                path.unlink(missing_ok=True)

    @contextmanager
    def cleaned_up_on_failure(self, first: bool) -> Iterator[None]:
        """If the block fails, close the files, and remove those that no run can continue.

        Args:
            first: whether this is rank 0, which removes the files.
        """
        try:
            yield
        except BaseException:
            for file in self.growing:
                with suppress(GroundswellError):  # the first failure is the one to report
                    file.close()
            if first and not (self.all_steps_made or self.checkpoint.exists()):
                with suppress(GroundswellError):
                    self.remove_unfinished()
            raise


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Delete files that the summary of an earlier run names."""
    for name in names:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()):  # the names come from a file: do not trust them
            path.unlink(missing_ok=True)
