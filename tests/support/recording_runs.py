"""Recorders on ranks that are threads, fed with fields whose values at every step are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thread_ranks import run_on_threads

from groundswell.backends.cpu import CpuBackend
from groundswell.case.recording import RecordSection
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.pattern import receives
from groundswell.grids.cartesian import GHOSTS, Field, Grid, Layout, Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.ghosts_read import ghosts_read
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.simulation.checkpoint import NAME, Progress, read_progress, restore, save

FIELDS = {
    "a": RecordableField("a", "m s-1", "at the middles"),
    "b": RecordableField("b", "Pa", "half a cell before them along x", (-0.5, 0.0, 0.0)),
    "c": RecordableField("c", "K", "at corners, and shifted", (-0.5, -0.5, -0.5), 300.0),
}
SECONDS = 0.25  # of a step
Periodic = tuple[bool, bool, bool]


def section(**content: Any) -> RecordSection:
    return RecordSection(**{"fields": ["a"], "file": "r.nc", **content})


class Film:
    """Values of fields on a whole grid at every step, and around it.

    Args:
        values: by name, (steps + 1, nz, ny, nx) with GHOSTS more on every side.
        periodic: whether x, y and z are periodic.
    """

    def __init__(
        self, grid: Grid, values: Mapping[str, NDArray[Any]], periodic: Periodic = (False,) * 3
    ) -> None:
        self.grid, self.values, self.periodic = grid, values, periodic

    @classmethod
    def random(cls, grid: Grid, steps: int, seed: int, dtype: str) -> Film:
        rng = np.random.default_rng(seed)
        shape = (steps + 1, *(n + 2 * GHOSTS for n in grid.shape))
        return cls(grid, {name: rng.normal(size=shape).astype(dtype) for name in FIELDS})

    @classmethod
    def random_periodic(cls, grid: Grid, steps: int, seed: int, periodic: Periodic) -> Film:
        """Beyond the ends of periodic axes it has their images, and no numbers beyond others."""
        rng = np.random.default_rng(seed)
        values = {name: rng.normal(size=(steps + 1, *grid.shape)) for name in FIELDS}
        for axis, wraps in zip((3, 2, 1), periodic, strict=True):
            width = [(GHOSTS, GHOSTS) if n == axis else (0, 0) for n in range(4)]
            how: dict[str, Any] = {"mode": "wrap"} if wraps else {"constant_values": np.nan}
            values = {name: np.pad(array, width, **how) for name, array in values.items()}
        return cls(grid, values, periodic)

    @property
    def dtype(self) -> str:
        return str(self.values["a"].dtype)

    def region(self, name: str) -> NDArray[np.float64]:
        """What is true of a field, (steps + 1, nz, ny, nx) over the region."""
        inner = (slice(GHOSTS, -GHOSTS),) * 3
        stored = self.values[name][:, *inner][:, *self.grid.region_slices]
        return stored.astype(float) + FIELDS[name].shift

    def show(self, fields: Mapping[str, Field], at: Rank, step: int) -> None:
        """Put a step's values where a rank has them: its cells, and ghosts that it is sent."""
        for name, field in fields.items():
            whole = self.values[name][step]
            field.array[...] = np.nan
            start = at.part.start[::-1]
            boxes = [((0, 0, 0), at.part.shape), *at.ghosts(name)]
            for first, shape in boxes:
                axes = [*zip(start, first, shape, strict=True)]
                here = tuple(slice(f + GHOSTS, f + GHOSTS + n) for _, f, n in axes)
                there = tuple(slice(s + f + GHOSTS, s + f + GHOSTS + n) for s, f, n in axes)
                field.array[here] = whole[there]


class Rank:
    """What one rank records of a film."""

    def __init__(
        self, film: Film, cut: Decomposition, comm: Communicator, sections: Sequence[RecordSection]
    ) -> None:
        self.film, self.cut, self.comm, self.sections = film, cut, comm, sections
        block = cut.block(comm.rank)
        self.part = Part.from_block(film.grid, block.start, block.shape)
        self._needed = ghosts_read(offered(film, Part.whole(film.grid)), sections, cut)

    def ghosts(self, name: str) -> list[tuple[Any, Any]]:
        if name not in self._needed:
            return []
        pieces = receives(self.cut, self.comm.rank, self._needed[name])
        return [(piece.here, piece.shape) for piece in pieces]

    def play(self, folder: Path, first: int, last: int, seed: int, *, stop: bool) -> None:
        """Record steps first .. last - 1 in batches; then write a checkpoint, or all files."""
        backend, film, comm = CpuBackend(), self.film, self.comm
        layout = Layout(self.part.cells, np.dtype(film.dtype).itemsize)
        fields = {name: Field(backend, layout, film.dtype) for name in FIELDS}
        arrays = {name: f.interior[self.part.region_slices] for name, f in fields.items()}
        recording = offered(film, self.part)
        found = Recorders(self.sections, recording, arrays, backend, comm)
        lengths = self._take_up(folder / NAME, backend, found) if first else None
        outputs = found.open(folder, lengths)
        rng, drained = np.random.default_rng(seed), first
        most = min([5, *(output.most_steps for output in outputs.values())])
        for step in range(first, last):
            film.show(fields, self, step)
            for launch in (*found.launches, *found.tick):
                launch()
            if step + 1 - drained == most or rng.random() < 0.4 or step + 1 == last:
                for output in outputs.values():
                    output.collect(drained, step + 1, None)()
                drained = step + 1
        film.show(fields, self, last)
        writers = {name: output.writer for name, output in outputs.items() if output.writer}
        if stop:
            done = Progress(last, "digest", {name: w.length for name, w in writers.items()})
            save(folder / NAME, backend, found.state(), done, comm)
            for writer in writers.values():
                writer.close()
            return
        for writer in writers.values():
            writer.finish()
        found.write(folder)

    def _take_up(self, path: Path, backend: Any, found: Recorders) -> Mapping[str, int]:
        progress = read_progress(path, "digest")
        restore(path, backend, found.state(), progress)
        return progress.lengths


def offered(film: Film, part: Part) -> Recording:
    """Cells begin at (0, 0, 0); the region's extent is where positions may lie."""
    grid = film.grid
    x, y, z = (h / 2 for h in grid.spacing)
    high = tuple(n * h for n, h in zip(grid.region, grid.spacing, strict=True))
    domain = CartesianDomain(part, (x, y, z), (0.0, 0.0, 0.0), high, periodic=film.periodic)
    return Recording(domain, FIELDS, film.dtype, SECONDS, attrs={"title": "film"})


def record(
    film: Film,
    sections: Sequence[RecordSection],
    folder: Path,
    processes: tuple[int, int, int],
    steps: int,
    resume: tuple[int, tuple[int, int, int]] | None = None,
) -> None:
    """Record a film on some ranks, cut as `processes` (x, y, z), or first on others to a step."""
    folder.mkdir(parents=True, exist_ok=True)
    legs = [(0, steps, processes)]
    if resume is not None:
        middle, others = resume
        legs = [(0, middle, others), (middle, steps, processes)]
    for first, last, wanted in legs:
        ranks = int(np.prod(wanted))
        wraps = film.periodic[::-1]
        cut = decompose(film.grid.shape, ranks, wraps, wanted[::-1], (1, 1, 1))

        def act(comm: Communicator, cut: Any = cut, first: int = first, last: int = last) -> None:
            stop = last < steps
            Rank(film, cut, comm, sections).play(folder, first, last, last, stop=stop)

        for told in run_on_threads(ranks, act):
            if told is not None:
                raise told


def renamed(sections: Sequence[RecordSection]) -> list[RecordSection]:
    """With a file for each."""
    return [s.model_copy(update={"file": f"r{n}.nc"}) for n, s in enumerate(sections)]
