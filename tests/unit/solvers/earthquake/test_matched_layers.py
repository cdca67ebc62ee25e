"""Absorbing layers of a case: their width, what they are tuned to, and warnings about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import warnings_of

from groundswell.errors import CaseError
from groundswell.seismology.sources.spectra import radiated_energy_below
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import Setup, prepare

ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
WATER = {"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0}


def setup(duration: float = 4.0, **sections: Any) -> Setup:
    source = {"kind": "explosion", "x": 1000.0, "y": 1000.0, "depth": 500.0, "moment": 1e12}
    pulse = {"kind": "gaussian", "sigma": 0.1}
    defaults: dict[str, Any] = {
        "grid": {"size": [2000.0, 2000.0, 1000.0], "spacing": [100.0, 50.0, 40.0]},
        "medium": {"kind": "homogeneous", **ROCK},
        "source": [{**source, "time_function": pulse}],
    }
    return prepare(EarthquakeCase(time={"duration": duration}, **(defaults | sections)))


def layers(*materials: dict[str, float]) -> dict[str, Any]:
    return {"kind": "layered", "layers": list(materials)}


@pytest.mark.parametrize(
    ("width", "cells"),
    [(7, (7, 7, 7)), ("400 m", (4, 8, 10)), ("0.41 km", (5, 9, 11)), ("1 m", (1, 1, 1))],
)
def test_a_width_is_a_number_of_cells_or_a_length(width: Any, cells: tuple[int, ...]) -> None:
    grid = setup(boundary={"width": width}).grid
    assert grid.after == cells
    assert grid.before == (*cells[:2], 0)


@pytest.mark.parametrize("width", [0, -1, True, 2.5, "10", "0 m", "-1 km", "3 s", [3]])
def test_other_widths_are_refused(width: Any) -> None:
    with pytest.raises(CaseError, match=r"boundary\.width"):
        setup(boundary={"width": width})


def test_the_shift_follows_the_duration_down_from_a_tenth_of_what_the_grid_resolves() -> None:
    assert setup(200.0).absorption.matched_layer(0).shift == pytest.approx(4 * np.pi / 200)
    resolved = 3464 / (6 * 100)
    assert setup(0.1).absorption.matched_layer(0).shift == pytest.approx(0.2 * np.pi * resolved)


def test_only_soft_ground_at_the_sides_needs_a_uniform_shift() -> None:
    soft = layers({"top": 0.0, **ROCK, "vs": 1000.0}, {"top": 200.0, **ROCK})
    assert setup().absorption.matched_layer(2).uniform_shift == 0
    highest = 0.4 * 2 * np.pi * 1000 / (6 * 100)
    for axis, share in enumerate((1, 1, 0.2)):
        found = setup(medium=soft).absorption.matched_layer(axis).uniform_shift
        assert found == pytest.approx(share * highest)
    periodic = setup(medium=soft, boundary={"sides": "periodic"})
    assert periodic.absorption.matched_layer(2).uniform_shift == 0
    assert setup().absorption.matched_layer(0).factor == 1
    assert setup(medium=soft).absorption.matched_layer(0).factor == pytest.approx(5.5 / 3.464)


def test_longer_runs_absorb_longer_waves() -> None:
    bands = [setup(duration).absorption.band for duration in (2.0, 20.0)]
    assert {band.reflection for band in bands if band} == {1e-3}
    lows = [band.lowest for band in bands if band]
    assert lows[1] < 0.2 * lows[0] < 0.2 / 2.0
    assert setup(boundary={"sides": "sponge", "width": 20}).absorption.band is None


def test_sources_below_the_absorbed_band_raise_a_warning() -> None:
    soft = layers({"top": 0.0, **ROCK, "vs": 2000.0}, {"top": 480.0, **ROCK})
    assert not any("absorbing layers" in text for text in warnings_of(setup()))
    (found,) = (text for text in warnings_of(setup(medium=soft)) if "absorbing layers" in text)
    assert "% of its energy below" in found and "boundary.width" in found


def test_layers_that_reflect_much_raise_a_warning() -> None:
    slow = layers({"top": 0.0, **ROCK, "vs": 200.0}, {"top": 480.0, **ROCK})
    narrow = {"boundary": {"width": 3}}
    (found,) = (
        text for text in warnings_of(setup(medium=slow, **narrow)) if "of some waves" in text
    )
    assert "10 %" in found and "boundary.width" in found
    assert not any("of some waves" in text for text in warnings_of(setup()))


def test_the_reflection_of_multiaxial_damping_grows_with_the_contrast() -> None:
    def estimate(vs: float) -> float:
        soft = layers({"top": 0.0, **ROCK, "vs": vs}, {"top": 480.0, **ROCK})
        return setup(medium=soft).absorption.soft_ground_reflection

    assert setup().absorption.soft_ground_reflection == 0
    assert 0 < estimate(2000.0) < estimate(1000.0) < 0.2


def test_many_steps_beside_a_fluid_raise_a_warning() -> None:
    medium = layers(WATER, {"top": 200.0, **ROCK})
    sea = {"medium": medium}
    assert not any("fluid" in text for text in warnings_of(setup(4.0, **sea)))
    assert any("sponge" in text for text in warnings_of(setup(200.0, **sea)))
    sponge = {"boundary": {"sides": "sponge", "width": 20}}
    assert not any("fluid" in text for text in warnings_of(setup(200.0, **sea, **sponge)))


def test_the_energy_that_a_gaussian_radiates() -> None:
    """Density x^2 exp(-x^2) of x = omega sigma, the derivative of a Gaussian."""
    sigma, step = 0.1, 0.001
    samples = np.exp(-0.5 * ((np.arange(0, 1.2, step) - 0.6) / sigma) ** 2)
    x = np.linspace(0, 12, 200_001)
    density = x**2 * np.exp(-(x**2))
    for frequency in (0.5, 1.5, 3.0):
        exact = density[x < 2 * np.pi * frequency * sigma].sum() / density.sum()
        assert radiated_energy_below(frequency, samples, step) == pytest.approx(exact, abs=2e-3)
