"""Access to a results folder from Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.errors import did_you_mean, listed
from groundswell.simulation.summary import Summary, read_summary


@dataclass(frozen=True)
class Result:
    """A results folder. The solver that wrote it adds attributes, such as `seismograms`.

    Args:
        folder: path of the folder, a string or a `Path`.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))

    @cached_property
    def summary(self) -> Summary:
        """The contents of summary.json."""
        return read_summary(self.folder)

    @property
    def _readers(self) -> dict[str, str]:
        return dict(registry.find(self.summary["solver"]).results)

    def __getattr__(self, name: str) -> Any:
        """The result of one of the solver's readers; cached."""
        if name.startswith("_"):
            raise AttributeError(name)
        readers = self._readers
        if name not in readers:
            solver = self.summary["solver"]
            raise AttributeError(
                f"results of {solver!r} have no {name!r}; they have "
                f"{listed(['summary', 'folder', *readers])}{did_you_mean(name, readers)}"
            )
        found = registry.find(self.summary["solver"]).resolve(readers[name])(self.folder)
        self.__dict__[name] = found  # later look-ups do not reach __getattr__
        return found

    def __dir__(self) -> list[str]:
        """All attributes, including the solver's readers."""
        return [*super().__dir__(), *self._readers]
