"""Symmetries of the ultrasound scheme: a periodic grid has no first point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import open_backend
from groundswell.solvers.ultrasound.medium import AcousticMedium, medium_of
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.window import Window

SPACING = 1e-3  # m
ROUNDING = 1e-11  # of the largest value, after 60 steps in double precision
CUTS = [  # (whole, start, cells, overlap), x, y, z
    ((12, 10, 9), (0, 0, 0), (12, 10, 5), (0, 0, 3)),
    ((12, 10, 9), (0, 0, 5), (12, 10, 4), (0, 0, 3)),
    ((12, 10, 9), (6, 0, 0), (6, 10, 9), (2, 0, 0)),
]


def ring(seed: int, shape: tuple[int, ...]) -> dict[str, NDArray[np.float64]]:
    """Random properties and a random pressure."""
    random = np.random.default_rng(seed)
    return {
        "speed": random.uniform(1400, 1700, shape),
        "density": random.uniform(900, 1200, shape),
        "absorption": random.uniform(0, 2, shape),
        "nonlinearity": random.uniform(0, 6, shape),
        "pressure": 1e5 * random.standard_normal(shape),
    }


def run(content: dict[str, Any]) -> NDArray[np.float64]:
    """Pressure after 60 steps in a periodic grid."""
    pressure, shape = content["pressure"], content["pressure"].shape
    medium = {name: values for name, values in content.items() if name != "pressure"}
    case = sim.make_case(
        grid={"points": list(shape[::-1]), "spacing": SPACING},
        medium={**medium, "power": 1.4},
        boundary={"width": 0},
        initial={"kind": "array", "values": pressure},
        time={"duration": 60 * 1e-7, "step": 1e-7},
    )
    found = sim.build(case, open_backend("cpu"))
    sim.advance(found, 60)
    return sim.pressure(found).reshape(shape)


@pytest.mark.parametrize(("shape", "by"), [((18, 20), (5, 20 - 7)), ((9, 8, 10), (1, 3, 4))])
def test_a_rolled_ring_has_rolled_waves(shape: tuple[int, ...], by: tuple[int, ...]) -> None:
    content, axes = ring(3, shape), range(len(shape))
    expected = np.roll(run(content), by, axes)
    found = run({name: np.roll(values, by, axes) for name, values in content.items()})
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()


@pytest.mark.parametrize("cut", CUTS)
def test_blocks_have_the_staggered_density_of_the_whole_grid(cut: Any) -> None:
    window = Window(*cut)
    density = np.random.default_rng(4).uniform(900, 1200, window.whole[::-1])
    whole = AcousticMedium(1500.0, density)
    block = tuple(
        slice(first, first + n) for first, n in zip(window.start, window.cells, strict=True)
    )[::-1]
    for axis in range(3):
        found = np.asarray(medium_of(whole, window).staggered_density(axis))[window.own]
        assert np.array_equal(found, np.asarray(whole.staggered_density(axis))[block])
