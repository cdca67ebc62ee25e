"""Readers of results folders as data: the file, how it is read, and how to get it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.outputs.recording import RecordableField
from groundswell.outputs.records import open_records
from groundswell.simulation.summary import read_summary


@dataclass(frozen=True)
class FileReader:
    """Reads a file of a results folder.

    Args:
        file: its name.
        read: function of its path.
        cure: what the error says if the run has not written it; by default, `read` raises.
    """

    file: str
    read: Callable[[Path], object]
    cure: str = ""

    def __call__(self, folder: Path) -> Any:
        """The contents of the file.

        Raises:
            InputError: the run has not written it, or it is damaged.
        """
        path = folder / self.file
        if self.cure and not path.exists():
            raise InputError(f"{path} does not exist; {self.cure}")
        return self.read(path)


@dataclass(frozen=True)
class RecordReader:
    """Opens the files of recorded fields: xarray.Dataset by file name; values are read on use.

    Args:
        fields: the recordable fields by name.
        others: names of files that have other readers.
        cure: what the error says if the run has recorded no fields.
        downward: whether z is depth.
    """

    fields: Mapping[str, RecordableField]
    others: Collection[str]
    cure: str = "run the case with output.record to have them"
    downward: bool = True

    def __call__(self, folder: Path) -> Any:
        """The files by name.

        Raises:
            InputError: the run has not recorded fields, or a file is missing or damaged.
        """
        found = self.open(folder)
        if not found:
            raise InputError(f"{folder} has no recorded fields; {self.cure}")
        return found

    def open(self, folder: Path) -> dict[str, Any]:
        """The files by name; none if the run has recorded no fields."""
        names = [name for name in read_summary(folder)["files"] if name not in self.others]
        return open_records(folder, names, self.fields, downward=self.downward)
