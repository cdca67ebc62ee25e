"""The state of an earthquake in parts: every value has one owner, and comes back to any parts.

What each part must hold is cut from dense arrays of the whole grid, by what the arrays mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from decompositions import slices_of
from numpy.typing import NDArray
from source_collector import SourceCollector
from thread_ranks import ThreadRank, run_on_threads

from groundswell.exchange.communicator import Communicator
from groundswell.simulation.checkpoint import (
    NAME,
    DistributedArray,
    Progress,
    read_progress,
    restore,
    save,
)
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import Setup, prepare
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.earthquake.state import _spans

pytestmark = pytest.mark.each_value

GHOSTS = 2
H, WIDTH, REGION = 100.0, 5, (24, 4, 7)  # layers thicker than blocks may be
CUTS = {  # processes along x, y and z; edges lie inside layers, at their ends and in the region
    1: [(1, 1, 1)],
    2: [(2, 1, 1), (1, 2, 1), (1, 1, 2)],
    3: [(3, 1, 1), (1, 3, 1), (1, 1, 3)],
    4: [(4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 1, 2), (1, 2, 2)],
}
ALL_CUTS = [cut for cuts in CUTS.values() for cut in cuts]
VARIANTS = [
    ("pml", "free-surface", True),
    ("pml", "absorbing", False),
    ("sponge", "free-surface", False),
    ("periodic", "free-surface", True),
]
variants = pytest.mark.parametrize(("sides", "top", "q"), VARIANTS)


class Silence:
    """An exchange with nobody."""

    puts: tuple[Any, ...] = ()

    def overlap_with(self, *, boundary: Any, interior: Any) -> list[Any]:
        return [*boundary, *interior]


class OnePart(Earthquake):
    """A rank of an earthquake whose other ranks do not exist."""

    def _exchanges(self) -> Any:
        return Silence(), Silence()


@cache
def prepared(sides: str, top: str, q: bool, processes: Any) -> Setup:
    matter = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0} | ({"qp": 155.9, "qs": 69.3} if q else {})
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": [n * H for n in REGION], "spacing": H},
        medium={"kind": "homogeneous", **matter},
        attenuation={"model": "constant" if q else "none"},
        boundary={"sides": sides, "top": top, "width": WIDTH},
        source=[
            {
                "kind": "explosion",
                "moment": 1e16,
                **{"x": 1000.0, "y": 100.0, "depth": 100.0},
                "time_function": {"kind": "gaussian", "sigma": 0.1},
            }
        ],
        output={"shaking_map": True},
        run={"processes": processes},
    )
    return prepare(case)


def part(setup: Setup, comm: Communicator) -> OnePart:
    return OnePart(setup, SourceCollector(), comm)


@cache
def parts(sides: str, top: str, q: bool, processes: Any) -> list[OnePart]:
    """All ranks of an earthquake; tests leave them as they are or fill them anew."""
    setup, count = prepared(sides, top, q, processes), int(np.prod(processes))
    return [part(setup, ThreadRank(rank, count, [], Barrier(1))) for rank in range(count)]


# --- what the parts must hold ---------------------------------------------------------------------


class Truth:
    """Random values of the whole grid, by the names of a state."""

    def __init__(self, setup: Setup, seed: int) -> None:
        self.setup, self.seed = setup, seed
        self.clock = np.array([10**12 + seed])

    def dense(self, name: str) -> NDArray[Any]:
        """Values of all cells, of the surface or of the region's."""
        nz, ny, nx = self.setup.grid.shape
        shapes = {
            "layers": (3, nz, ny, nx),
            "surface": (4, ny, nx),
            "peaks": (2, *self.setup.grid.region[1::-1]),
            "past": (2, *self.setup.grid.region[1::-1]),
        }
        with_ghosts = (nz + 2 * GHOSTS, ny + 2 * GHOSTS, nx + 2 * GHOSTS)
        rng = np.random.default_rng([self.seed, *name.encode()])
        shape = shapes.get(name.partition("/")[0], with_ghosts)
        return rng.normal(size=shape).astype(self.setup.dtype)

    def of(self, name: str, solver: OnePart) -> NDArray[Any]:
        """What a part's array of this name must hold."""
        kind, here = name.partition("/")[0], slices_of(solver.part)
        if kind == "clock":
            return self.clock
        dense = self.dense(name)
        if kind == "layers":
            axis = "xyz".index(name[-1])
            kept = solver.layers.memory_cells(axis) - solver.part.start[axis]
            return np.take(self.in_layer(axis, dense)[:, *here], kept, 3 - axis)
        if kind == "surface":
            return dense[:, *here[1:]]
        if kind in ("peaks", "past"):
            region = np.zeros((2, *self.setup.grid.shape[1:]), dense.dtype)
            region[:, *self.setup.grid.region_slices[1:]] = dense
            return region[:, *here[1:]][:, *solver.part.region_slices[1:]]
        return dense[tuple(slice(s.start, s.stop + 2 * GHOSTS) for s in here)]

    def in_layer(self, axis: int, dense: NDArray[Any]) -> NDArray[Any]:
        """Memory of every cell, zero outside the layers: as the kernels leave it."""
        grid = self.setup.grid
        n = np.arange(grid.cells[axis])
        inside = (n < grid.before[axis]) | (n >= grid.cells[axis] - grid.after[axis])
        return dense * inside.reshape([-1 if a == axis else 1 for a in (3, 2, 1, 0)])


# --- portions -------------------------------------------------------------------------------------


def assert_paired(portion: DistributedArray) -> None:
    """Windows and owned pieces are boxes of the array itself, as large here as there."""
    whole = np.zeros(portion.shape, bool)
    for here, there in (*portion.window, *portion.own):
        assert portion.array[here].shape == whole[there].shape
        for slices, shape in ((here, portion.array.shape), (there, portion.shape)):
            assert all(0 <= s.start <= s.stop <= n for s, n in zip(slices, shape, strict=True))


@pytest.mark.most(4)
@pytest.mark.parametrize("processes", ALL_CUTS)
@variants
def test_every_value_has_one_owner(sides: str, top: str, q: bool, processes: Any) -> None:
    owners: dict[str, NDArray[Any]] = {}
    for solver in parts(sides, top, q, processes):
        for name, portion in solver.state().items():
            assert_paired(portion)
            count = owners.setdefault(name, np.zeros(portion.shape, int))
            for _, there in portion.own:
                count[there] += 1
    assert all((count == 1).all() for count in owners.values())
    wanted = {"vx", "szz", "clock", "peaks", "past", *(["rxy"] if q else [])}
    if sides == "pml":
        wanted |= {f"layers/{u}/{a}" for u in ("velocity", "stress") for a in "xyz"}
    if sides == "periodic":
        wanted |= {"layers/velocity/z", "layers/stress/z"}
    if top == "free-surface":
        wanted |= {"surface/mirror_velocity", "surface/mirror_stress"}
    assert wanted <= owners.keys()


@pytest.mark.parametrize("processes", ALL_CUTS)
@variants
def test_windows_lie_where_their_values_belong(
    sides: str, top: str, q: bool, processes: Any
) -> None:
    """The dense arrays, stored whole as the single-rank state is, seen through each window."""
    [whole] = parts(sides, top, q, (1, 1, 1))
    truth = Truth(whole.setup, seed=21)
    stored = {name: np.zeros(p.shape, p.array.dtype) for name, p in whole.state().items()}
    for name, portion in whole.state().items():
        for here, there in portion.own:
            stored[name][there] = truth.of(name, whole)[here]
    for solver in parts(sides, top, q, processes):
        for name, portion in solver.state().items():
            wanted = truth.of(name, solver)
            seen = np.zeros_like(wanted)
            for here, there in portion.window:
                seen[here] = stored[name][there]
            assert (seen == wanted).all(), name


def test_runs_are_consecutive_places() -> None:
    rng = np.random.default_rng(22)
    for _ in range(200):
        place = np.sort(rng.choice(30, 12, replace=False)) - 1
        place = np.where(rng.random(12) < 0.3, -1, place)
        found = list(_spans(place))
        index = [n for here, _ in found for n in range(here.start, here.stop)]
        there = [n for _, where in found for n in range(where.start, where.stop)]
        assert index == np.flatnonzero(place >= 0).tolist()
        assert there == place[place >= 0].tolist()


# --- checkpoints ----------------------------------------------------------------------------------


def fill(solver: OnePart, truth: Truth) -> None:
    for name, portion in solver.state().items():
        portion.array[...] = truth.of(name, solver)


def save_in_parts(setup: Setup, truth: Truth, path: Path) -> None:
    def act(comm: Communicator) -> None:
        solver = part(setup, comm)
        fill(solver, truth)
        save(path, solver.backend, solver.state(), Progress(7, "digest", {}), comm)

    count = int(np.prod(setup.case.run.processes))
    assert run_on_threads(count, act) == [None] * count


def pairs() -> Iterator[tuple[Any, Any]]:
    """Any number of ranks after any number, with all kinds of cuts."""
    for n, (wrote, reads) in enumerate(product(CUTS, CUTS)):
        first, then = CUTS[wrote][n % len(CUTS[wrote])], CUTS[reads][-1 - n % len(CUTS[reads])]
        if first != then:
            yield first, then


@pytest.mark.most(4)
@pytest.mark.parametrize(("wrote", "reads"), list(pairs()))
@variants
def test_a_state_comes_back_to_other_parts(
    tmp_path: Path, sides: str, top: str, q: bool, wrote: Any, reads: Any
) -> None:
    before = prepared(sides, top, q, wrote)
    truth = Truth(before, seed=24)
    save_in_parts(before, truth, tmp_path / NAME)
    progress = read_progress(tmp_path / NAME, "digest")
    assert len(progress.parts) == np.prod(wrote) - 1
    for solver in parts(sides, top, q, reads):
        state = solver.state()
        for name, portion in state.items():
            portion.array[...] = 0 if name.startswith("layers") else 99
        restore(tmp_path / NAME, solver.backend, state, progress)
        for name, portion in state.items():
            assert (portion.array == truth.of(name, solver)).all(), name
