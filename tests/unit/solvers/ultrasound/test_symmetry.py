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


@pytest.mark.parametrize("axis", [0, 1])
def test_a_mirrored_ring_has_mirrored_waves(axis: int) -> None:
    content = ring(5, (18, 21))
    expected = np.flip(run(content), axis)
    found = run({name: np.flip(values, axis) for name, values in content.items()})
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()


def test_a_turned_ring_has_turned_waves() -> None:
    content = ring(6, (12, 10, 9))
    expected = run(content).transpose(2, 0, 1)
    found = run({name: values.transpose(2, 0, 1) for name, values in content.items()})
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()


def test_sources_and_receivers_may_be_exchanged() -> None:
    """Without losses, p at B from A times c rho at A equals p at A from B times c rho at B.

    A source of the pressure p emits the volume 2 p / (c rho) per time and area.
    """
    content, shape = ring(7, (16, 20)), (16, 20)
    medium = {name: content[name] for name in ("speed", "density")}
    impedance = (content["speed"] * content["density"]).ravel()
    places, heard = (3 * 20 + 4, 11 * 20 + 15), []
    for source, receiver in (places, places[::-1]):
        section = {
            "shape": {"kind": "mask", "indices": [source]},
            "pressure": 1e3,
            "mode": "uncorrected",
            "signal": {"kind": "burst", "frequency": 3e5, "cycles": 1},
        }
        case = sim.make_case(
            grid={"points": list(shape[::-1]), "spacing": SPACING},
            medium=medium,
            boundary={"width": 0},
            source=[section],
            time={"duration": 60 * 1e-7, "step": 1e-7},
        )
        series = sim.record(sim.build(case, open_backend("cpu")), ..., 60)
        heard.append(series.reshape(60, -1)[:, receiver] * impedance[source])
    assert np.abs(heard[0] - heard[1]).max() < ROUNDING * np.abs(heard[0]).max()


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
