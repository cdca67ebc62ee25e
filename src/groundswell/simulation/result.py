"""Access to a results folder from Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.errors import did_you_mean, listed
from groundswell.simulation.summary import Summary, read_summary


@dataclass(frozen=True)
class Result:
    """A results folder. The solver that wrote it adds attributes, such as `seismograms`.

    >>> import groundswell as gs
    >>> folder = gs.run("case.toml").folder
    >>> gs.Result(folder).fields["T"].dims
    ('z', 'y', 'x')

    `plot()` draws the pictures of the run, and notebooks show them. A notebook shows the result
    itself as its key numbers, the first picture and the names of its files.

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

    @property
    def _methods(self) -> dict[str, str]:
        return dict(registry.find(self.summary["solver"]).all_methods)

    def __getattr__(self, name: str) -> Any:
        """The result of one of the solver's readers, cached, or one of its methods."""
        if name.startswith("_"):
            raise AttributeError(name)
        solver, readers, methods = self.summary["solver"], self._readers, self._methods
        if name not in readers | methods:
            raise AttributeError(
                f"results of {solver!r} have no {name!r}; they have "
                f"{listed(['summary', 'folder', *readers, *methods])}"
                f"{did_you_mean(name, readers | methods)}"
            )
        found = registry.find(solver).resolve((readers | methods)[name])
        found = partial(found, self.folder) if name in methods else found(self.folder)
        self.__dict__[name] = found  # later look-ups do not reach __getattr__
        return found

    def _repr_html_(self) -> str:
        return registry.show_in_notebook(self.folder)

    def __dir__(self) -> list[str]:
        """All attributes, including the solver's readers and methods."""
        return [*super().__dir__(), *self._readers, *self._methods]
