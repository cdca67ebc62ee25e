"""The hot kernels, one launch each, held against the scheme in NumPy on random input.

All that a kernel has no business to read is NaN, and all that it has no business to write must
still be NaN afterwards: ghost cells beyond the stencil, corners, row padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from earthquake_bench import PAIRS, Bench, make_solver
from earthquake_scheme import AXES, Relaxing
from variants import long_variants

from groundswell.exchange.decomposition import Block
from groundswell.exchange.pattern import split
from groundswell.solvers.earthquake.solver import MEMORIES, STRESSES, VELOCITIES

pytestmark = pytest.mark.each_value


WIDE, SMALL = (31, 13, 9), (3, 2, 5)  # cells of the region; layers of 3 cells around it
VARIANTS = [
    ("pml", "free-surface", True, "double", WIDE),
    ("pml", "absorbing", False, "double", SMALL),
    ("pml", "free-surface", True, "single", SMALL),
    ("soft", "free-surface", False, "double", WIDE),
    ("sponge", "absorbing", True, "double", SMALL),
    ("periodic", "free-surface", False, "single", WIDE),
    ("pml", "free-surface", True, "half", WIDE),
]
LONG = [
    ("sponge", "free-surface", True, "half", SMALL),
    ("periodic", "absorbing", True, "half", WIDE),
    ("pml", "free-surface", True, "single", WIDE),
    ("pml", "free-surface", False, "single", SMALL),
    ("pml", "absorbing", True, "single", SMALL),
    ("sponge", "free-surface", True, "double", SMALL),
    ("sponge", "absorbing", False, "single", WIDE),
    ("periodic", "absorbing", True, "double", SMALL),
]
every_variant = pytest.mark.parametrize(
    ("sides", "top", "q", "precision", "region"), [*VARIANTS, *long_variants(LONG)]
)


def before_velocities(bench: Bench) -> Any:
    """Random input of a velocity update, and what the scheme makes of it: fields and memory."""
    stress = 1e7  # moves velocities of 1 m/s by about as much in one step
    v = bench.fields(VELOCITIES, 1.0, {})
    s = bench.fields(STRESSES, stress, {"s" + c: "".join(sorted(set(c))) for c in PAIRS})
    rho = bench.material("rho", 1000, 3500)
    memory = bench.layer_memory("velocity", stress / 100)
    return bench.scheme().velocities(v, s, rho, memory)


def before_stresses(bench: Bench) -> Any:
    """The same of a stress update."""
    stress, q = 1e6, bench.solver.attenuated
    v = bench.fields(VELOCITIES, 1.0, dict.fromkeys(VELOCITIES, AXES))
    s = bench.fields(STRESSES, stress, {})
    r = bench.fields(MEMORIES if q else (), stress, {})
    lam = bench.material("lam", 1e9, 5e10)
    compliance = bench.material("compliance", 2e-11, 2e-9, shears=True, fluids=0.03)
    memory = bench.layer_memory("stress", 0.01)
    relaxing = relaxing_of(bench) if q else None
    stresses, memories, kept = bench.scheme().stresses(s, r, v, lam, compliance, memory, relaxing)
    return stresses | memories, kept


def relaxing_of(bench: Bench) -> Relaxing:
    relaxation = bench.solver.setup.ground.relaxation
    assert relaxation is not None
    inverse_qp = bench.material("inverse_qp", 0, 0.1)
    inverse_qs = bench.material("inverse_qs", 0, 0.1, shears=True)
    return Relaxing(relaxation.tau, relaxation.coefficients, inverse_qp, inverse_qs)


BEFORE = {"velocity": before_velocities, "stress": before_stresses}
updates = pytest.mark.parametrize("update", BEFORE)


def launch(bench: Bench, update: str, boxes: list[Block]) -> None:
    """Update the cells of some boxes."""
    if update == "velocity":
        runs = bench.solver._update_velocity(boxes, 1)
    else:
        runs = bench.solver._update_stress(boxes)
    assert len(runs) == len(boxes)
    for run in runs:
        run()


@updates
@every_variant
def test_updates_are_the_schemes(
    sides: str, top: str, q: bool, precision: str, region: Any, update: str
) -> None:
    bench = Bench(make_solver(sides, top, q, precision, region), seed=11)
    wanted, kept = BEFORE[update](bench)
    launch(bench, update, [Block((0, 0, 0), bench.grid.shape)])
    bench.assert_fields(wanted, precision)
    bench.assert_memory(update, kept, precision)


def tilings(rng: np.random.Generator, shape: Any) -> Iterator[list[Block]]:
    """A grid in boxes: as blocks beside other ranks have them, and one cell thick in any order."""
    for _ in range(4):
        sides = [(bool(low), bool(high)) for low, high in rng.integers(0, 2, (3, 2))]
        boundary, interior = split(shape, sides, rng.integers(1, 9, 3).tolist())
        yield [*boundary, *interior]
    for axis in range(3):
        yield [slab(shape, axis, n) for n in rng.permutation(shape[axis]).tolist()]


def slab(shape: Any, axis: int, n: int) -> Block:
    """The cells of number `n` along an axis."""
    return Block(
        tuple(n if a == axis else 0 for a in range(3)),
        tuple(1 if a == axis else count for a, count in enumerate(shape)),
    )


@updates
@every_variant
def test_a_grid_in_boxes_is_updated_to_the_same_bits(
    sides: str, top: str, q: bool, precision: str, region: Any, update: str
) -> None:
    """Whatever the boxes and their order, which is how ranks hide their exchange."""
    solver = make_solver(sides, top, q, precision, region)

    def updated(boxes: list[Block]) -> list[bytes]:
        bench = Bench(solver, seed=12)
        BEFORE[update](bench)
        launch(bench, update, boxes)
        arrays = [bench.whole_rows(field) for field in solver.fields.values()]
        return [array.tobytes() for array in (*arrays, *solver.layers.memory[update])]

    shape = solver.part.shape
    whole = updated([Block((0, 0, 0), shape)])
    for boxes in tilings(np.random.default_rng(13), shape):
        assert updated(boxes) == whole, boxes
