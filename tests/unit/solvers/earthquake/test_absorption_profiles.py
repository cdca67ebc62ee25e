"""Absorbing layers on paper: what the profiles do to waves, before any kernel uses them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from plane_wave_reflection import PlaneWaveReflection

from groundswell.seismology.guided_waves import SoftGround
from groundswell.seismology.media.statistics import SideSpeeds
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer, sponge
from groundswell.solvers.earthquake.absorbing_reflection import absorbed_band, reflection

H, DT, VP = 100.0, 0.0078, 6000.0
FREQUENCY = 3464.0 / (6 * H)  # Hz, that six cells resolve in rock
SHIFT = 0.2 * np.pi * FREQUENCY


CELLS = 100


def layer(width: int = 10, *, shift: float = SHIFT, uniform: float = 0.0) -> MatchedLayer:
    return MatchedLayer(width, width, CELLS, H, VP, shift, uniform)


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
    some = MatchedLayer(before, after, CELLS, H, VP, SHIFT)
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
    matched = layer(uniform=1.5)
    depth = (10 - np.arange(10)) / 10
    damping = 1.2 * np.log(10) * VP / H * depth**3
    alpha = SHIFT * (1 - depth) + 1.5
    seen = 2j / DT * np.tan(np.pi * f * DT)
    exact = 1 / (1 + damping / (alpha + seen))
    assert np.allclose(
        stretching(matched.coefficients(DT, np.arange(10))[:4], f), exact, rtol=1e-12
    )


@pytest.mark.parametrize("width", [5, 10, 20])
def test_each_cell_lowers_the_reflection_alike(width: int) -> None:
    """The damping's integral, there and back, is ln 1/R: -log10 R is 0.6 a cell, at most 8."""
    loss = layer(width).damping(DT, np.arange(CELLS))
    assert np.all(loss[width : CELLS - width] == 0)
    integral = 2 * loss[:width].sum() / DT * H / VP
    assert integral / np.log(10) == pytest.approx(min(0.6 * width, 8.0), rel=0.03)
    assert layer(width).decades == min(0.6 * width, 8.0)


def test_a_factor_multiplies_the_damping() -> None:
    cells = np.arange(CELLS)
    assert np.allclose(
        replace(layer(), factor=2.5).damping(DT, cells), 2.5 * layer().damping(DT, cells)
    )


SLOW = pytest.param(1800.0, 300.0, 0.6, id="sediments")
ROCK = pytest.param(6000.0, 3464.0, 0.05, id="rock")


@pytest.mark.parametrize(("vp", "vs", "limit"), [ROCK, SLOW])
@pytest.mark.parametrize("points", [8.0, 12.0, 40.0])
def test_plane_waves_hardly_come_back(vp: float, vs: float, limit: float, points: float) -> None:
    """From the discrete layer, in %; sediments have the damping of the rock below them."""
    profiles = layer(shift=0.2 * np.pi * vs / (6 * H)).coefficients(DT, outermost(10))
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
    """1/s on faces and at centres of the high side."""
    faces, centres = np.split(profiles[:, profiles.shape[1] // 2 :], 2)
    return stretching(faces, f), stretching(centres, f)


@pytest.mark.parametrize("points", [6.0, 20.0, 150.0, 1000.0])
def test_long_plane_waves_hardly_come_back(points: float) -> None:
    """With the shift of a run that lasts one period: at most 0.1 %, normal and at 45 degrees."""
    for wave, speed in (("P", VP), ("S", 3464.0)):
        matched = layer(12, shift=min(4 * np.pi * speed / (points * H), SHIFT))
        ends = partial(halves, matched.coefficients(DT, outermost(12)))
        line = PlaneWaveReflection(VP, 3464.0, H, DT)
        for angle in (0.0, 45.0):
            assert 100 * line.coefficient(wave, points, angle, ends) < 0.1, (wave, angle)


@pytest.mark.parametrize("uniform", [0.0, 2.0])
@pytest.mark.parametrize("points", [8.0, 60.0, 200.0])
def test_the_reflection_of_sh_waves_is_that_of_elastic_ones(points: float, uniform: float) -> None:
    """S waves at normal incidence are SH waves; at 45 degrees SV waves come back alike."""
    matched = layer(12, shift=1.0, uniform=uniform)
    profiles = matched.coefficients(DT, outermost(12))
    line, speed = PlaneWaveReflection(VP, 3464.0, H, DT), 3464.0
    elastic = line.coefficient("S", points, 0.0, lambda f: halves(profiles, f))
    scalar = reflection(matched, DT, speed, speed / (points * H))
    assert scalar == pytest.approx(elastic, rel=0.1, abs=3e-5)


def test_the_band_ends_where_a_tenth_of_a_per_cent_returns() -> None:
    matched = layer(12, shift=1.0, uniform=2.0)
    band = absorbed_band(matched, DT, (3464.0, VP), FREQUENCY)
    assert band is not None and band.reflection == 1e-3
    assert band.highest == FREQUENCY and 0.1 < band.lowest < 1.0
    assert reflection(matched, DT, VP, band.lowest, 45.0) < 1e-3
    assert reflection(matched, DT, VP, 0.94 * band.lowest, 45.0) > 1e-3


@pytest.mark.parametrize(("slow", "limit"), [(1000.0, 3e-3), (300.0, 1e-2), (150.0, 3e-2)])
def test_a_band_next_to_slow_waves_has_a_higher_limit(slow: float, limit: float) -> None:
    """The first limit for which the highest frequency is at least three times the lowest."""
    resolved = slow / (6 * H)
    matched = layer(uniform=0.2 * 2 * np.pi * resolved, shift=0.0)
    band = absorbed_band(matched, DT, (slow, VP), resolved)
    assert band is not None and band.reflection == limit
    assert band.highest >= 3 * band.lowest
    for f in np.geomspace(band.lowest, band.highest, 7):
        assert reflection(matched, DT, slow, f) < limit
        assert reflection(matched, DT, VP, f, 45.0) < limit


def test_a_single_cell_absorbs_nothing() -> None:
    assert absorbed_band(layer(1), DT, (3464.0, VP), FREQUENCY) is None


SOFT = SideSpeeds(np.array([300.0, 1200.0, 1500.0, 3464.0]), np.array([1800.0, 2400.0, 1500.0, VP]))


def test_the_ratio_increases_with_the_contrast_and_the_width() -> None:
    ground = SoftGround(SOFT, 3464.0, H, 1e3)
    ratio = ground.damping_ratio(12)
    assert ratio[3] == 0
    assert ratio[1] == pytest.approx(0.003 * np.exp(-2.6 * 1.4) * (3464 / 1200 - 1.2))
    assert np.allclose(ground.damping_ratio(24), 2 * ratio)
    assert np.array_equal(ground.damping_ratio(4), ratio)


def test_rows_above_soft_ground_have_the_ratio_of_those_below() -> None:
    """A stiff plate on soft ground guides waves that layers amplify, too."""
    vs, vp = np.array([3464.0, 3464.0, 1200.0, 2000.0, 3464.0]), np.full(5, VP)
    ratio = SoftGround(SideSpeeds(vs, vp), 3464.0, H, 1e3).damping_ratio(12)
    assert ratio[0] == ratio[1] == ratio[2] > ratio[3] > ratio[4] == 0


def test_the_shift_is_that_of_the_resonance_of_p_waves() -> None:
    through = 100 * (1 / 1800 + 1 / 2400 + 1 / 1500)  # s
    ground = SoftGround(SOFT, 3464.0, H, 1e3)
    assert ground.side_shift == pytest.approx(1.4 * 2 * np.pi / (4 * through))
    assert [ground.frequency_shift(axis) / ground.side_shift for axis in range(3)] == [1, 1, 0.2]
    stiff = SoftGround(SideSpeeds(np.full(3, 3464.0), np.full(3, VP)), 3464.0, H, 1e3)
    assert stiff.side_shift == 0 and stiff.damping_factor == 1
    assert not stiff.damping_ratio(12).any()


@pytest.mark.parametrize("contrast", [1.2, 1.73, 2.5, 8.0])
def test_small_contrasts_need_less_shift_and_allow_more_damping(contrast: float) -> None:
    sides = SideSpeeds(np.array([3464 / contrast, 3464.0]), np.full(2, VP))
    ground = SoftGround(sides, 3464.0, H, 1e3)
    assert ground.side_shift / ground.resonance == pytest.approx(min(0.65 * (contrast - 0.4), 1.4))
    assert ground.damping_factor == pytest.approx(min(max(5.5 / contrast, 1.0), 3.0))


def test_coarse_grids_limit_the_shift_and_need_more_damping() -> None:
    fine, coarse = (SoftGround(SOFT, 3464.0, H, resolved) for resolved in (1e3, 0.1))
    assert coarse.side_shift == pytest.approx(0.4 * 2 * np.pi * 0.1)
    assert np.all(coarse.damping_ratio(12)[:3] > 3 * fine.damping_ratio(12)[:3])


def test_sponge_falls_towards_both_edges() -> None:
    factors = sponge(20, 10, 60)
    assert factors[0] == factors[-1] == pytest.approx(0.92)
    assert np.all(factors[20:50] == 1)
    assert np.all(np.diff(factors[:21]) > 0) and np.all(np.diff(factors[49:]) < 0)
    assert np.array_equal(sponge(0, 0, 5), np.ones(5))
