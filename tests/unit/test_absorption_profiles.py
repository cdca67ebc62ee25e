"""Absorbing layers on paper: what the profiles do to waves, before any kernel uses them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from plane_wave_reflection import PlaneWaveReflection

from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer, damping_ratio, sponge

H, DT, VP = 100.0, 0.0078, 6000.0
FREQUENCY = 3464.0 / (6 * H)  # Hz, that six cells resolve in rock


CELLS = 100


def layer(width: int = 10, *, frequency: float = FREQUENCY) -> MatchedLayer:
    return MatchedLayer(width, width, CELLS, H, VP, frequency)


def outermost(kept: int) -> NDArray[np.intp]:
    """So many cells at each end."""
    return np.r_[:kept, CELLS - kept : CELLS]


def stretching(coefficients: NDArray[np.float64], f: float) -> NDArray[np.complex128]:
    """1/s of every cell: what a harmonic derivative and its memory come to after a long time."""
    c0, c1, c2, c3 = coefficients
    return c0 + c1 * c3 / (np.exp(2j * np.pi * f * DT) - c2)


@pytest.mark.parametrize("kept", [10, 16])
def test_sides_mirror_each_other(kept: int) -> None:
    faces, centres = np.split(layer().coefficients(DT, outermost(kept)), 2)
    assert faces.shape == centres.shape == (4, 2 * kept)
    assert np.allclose(centres, centres[:, ::-1], rtol=1e-12)
    # The face between cells n - 1 and n is the low one of cell n.
    assert np.allclose(faces[:, 1:], faces[:, :0:-1], rtol=1e-12)


def test_a_layer_on_one_side_leaves_the_other_alone() -> None:
    low, high, both = (
        MatchedLayer(*sides, CELLS, H, VP, 5.0) for sides in ((10, 0), (0, 10), (10, 10))
    )
    without = MatchedLayer(0, 0, CELLS, H, VP, 5.0)
    first, last = np.arange(60), np.arange(40, CELLS)
    for one, layered, plain in ((low, first, last), (high, last, first)):
        found, alone = one.coefficients(DT, layered), both.coefficients(DT, layered)
        assert np.array_equal(found, alone)
        assert np.array_equal(one.coefficients(DT, plain), without.coefficients(DT, plain))
    untouched = without.coefficients(DT, np.arange(CELLS))
    assert np.allclose(untouched[[0, 4]], 1, rtol=1e-14) and np.all(untouched[[3, 7]] == 0)
    assert without.coefficients(DT, outermost(0)).shape == (8, 0)


@given(st.lists(st.integers(0, CELLS - 1), max_size=30), st.integers(0, 12), st.integers(0, 12))
def test_a_cell_has_its_coefficients_whoever_asks(at: list[int], before: int, after: int) -> None:
    """So every part of a grid has those of the whole, bit by bit."""
    some = MatchedLayer(before, after, CELLS, H, VP, FREQUENCY)
    cells, everything = np.array(at, np.intp), np.arange(CELLS)
    whole = some.coefficients(DT, everything)
    assert np.array_equal(some.coefficients(DT, cells), whole[:, cells])
    assert np.array_equal(some.damping(DT, cells), some.damping(DT, everything)[cells])


def test_beyond_the_layer_derivatives_stay_as_they_are() -> None:
    faces, centres = np.split(layer().coefficients(DT, outermost(16)), 2)
    for coefficients, inside in ((faces, [9, 23]), (centres, [9, 22])):
        beyond = coefficients[:, 10:22]
        assert np.allclose(beyond[0], 1, rtol=1e-14) and np.all(beyond[3] == 0)
        assert np.all(coefficients[3, inside] > 0)


@pytest.mark.parametrize("f", [0.05, 0.5, 5.0])
def test_the_recursion_is_the_stretching(f: float) -> None:
    """1/s = 1 / (1 + d / (alpha + i omega)) at the frequency that the trapezoidal rule sees."""
    matched = layer()
    depth = (10 - np.arange(10)) / 10
    damping = 1.2 * np.log(10) * VP / H * depth**3
    alpha = 0.2 * np.pi * FREQUENCY * (1 - depth) + 0.02 * damping
    seen = 2j / DT * np.tan(np.pi * f * DT)
    exact = 1 / (1 + damping / (alpha + seen))
    assert np.allclose(
        stretching(matched.coefficients(DT, np.arange(10))[:4], f), exact, rtol=1e-12
    )


@pytest.mark.parametrize("width", [5, 10, 20])
def test_each_cell_lowers_the_reflection_alike(width: int) -> None:
    """The damping's integral, there and back, is ln 1/R with log10 R = -0.6 a cell."""
    loss = layer(width).damping(DT, np.arange(CELLS))
    assert np.all(loss[width : CELLS - width] == 0)
    integral = 2 * loss[:width].sum() / DT * H / VP
    assert integral / np.log(10) == pytest.approx(0.6 * width, rel=0.03)


SLOW = pytest.param(1800.0, 300.0, 0.6, id="sediments")
ROCK = pytest.param(6000.0, 3464.0, 0.05, id="rock")


@pytest.mark.parametrize(("vp", "vs", "limit"), [ROCK, SLOW])
@pytest.mark.parametrize("points", [8.0, 12.0, 40.0])
def test_plane_waves_hardly_come_back(vp: float, vs: float, limit: float, points: float) -> None:
    """From the discrete layer, in %; sediments have the damping of the rock below them."""
    profiles = layer(frequency=vs / (6 * H)).coefficients(DT, outermost(10))
    line = PlaneWaveReflection(vp, vs, H, DT)
    for wave in "PS":
        for angle in (0.0, 25.0, 45.0):
            back = line.coefficient(wave, points, angle, lambda f: halves(profiles, f))
            assert 100 * back < limit, (wave, angle)


def test_a_square_would_send_more_back(monkeypatch: pytest.MonkeyPatch) -> None:
    line = PlaneWaveReflection(VP, 3464.0, H, DT)

    def back() -> float:
        profiles = layer().coefficients(DT, outermost(10))
        return line.coefficient("S", 8.0, 0.0, lambda f: halves(profiles, f))

    cubic = back()
    monkeypatch.setattr("groundswell.solvers.earthquake.absorbing_profiles.POWER", 2)
    assert back() > 4 * cubic


def halves(profiles: NDArray[np.float64], f: float) -> tuple[NDArray, NDArray]:
    """1/s on faces and at centres of the high side's ten cells."""
    return stretching(profiles[:4, 10:], f), stretching(profiles[4:, 10:], f)


def test_coupling_acts_in_soft_ground_alone() -> None:
    slowest = np.array([3464.0, 1800.0, 1200.0, 300.0, np.inf])
    shares = damping_ratio(slowest, 3464.0)
    assert np.array_equal(shares[[0, 1, 4]], [0, 0, 0])  # stiff, stiff enough, fluid
    assert shares[2] == pytest.approx(0.01 * (3464 / 1200 - 2))
    assert shares[3] == 0.08


def test_sponge_falls_towards_both_edges() -> None:
    factors = sponge(20, 10, 60)
    assert factors[0] == factors[-1] == pytest.approx(0.92)
    assert np.all(factors[20:50] == 1)
    assert np.all(np.diff(factors[:21]) > 0) and np.all(np.diff(factors[49:]) < 0)
    assert np.array_equal(sponge(0, 0, 5), np.ones(5))
