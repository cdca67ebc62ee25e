"""Rupture files that contradict themselves or the medium: what is accepted, doubted and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ruptures import make_rupture

from groundswell.errors import InputError
from groundswell.seismology.formats.srf import Srf
from groundswell.seismology.sources.rupture_checks import check_rigidity, check_slip

POINTS = 30
MU = 2700 * 3100.0**2


def rupture(seed: int, **more: Any) -> Srf:
    """Slip along rake and across, of 0.1 to 3 m."""
    return make_rupture(np.random.default_rng(seed), POINTS, [12, 9, 0], **more)


def shortened(srf: Srf, part: float) -> Srf:
    """The rupture without the tails of its slip rates, which hold `part` of the slip."""
    rates = srf.rates.copy()
    for point, component in np.argwhere(srf.counts):
        rate = rates[srf._ends[3 * point + component] - srf.counts[point, component] :]
        rate[srf.counts[point, component] - 1] -= part * rate[: srf.counts[point, component]].sum()
    return replace(srf, rates=rates)


# --- slip ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [0, 1, 2, 4])
@pytest.mark.parametrize("size", [1.0, 0.02])
def test_rounded_slip_and_short_tails_are_accepted(decimals: int, size: float) -> None:
    """Generators round slip to a centimetre or less, and cut a few per cent of the slip rates."""
    for seed in range(5):
        srf = rupture(seed)
        srf = replace(srf, slip=size * srf.slip, rates=size * srf.rates)
        rounded = replace(srf, slip=np.round(srf.slip * 100, decimals) / 100)
        assert [*check_slip(shortened(rounded, 0.04), "r.srf")] == []


@pytest.mark.parametrize("decimals", [1, 2, 9])
@pytest.mark.parametrize("factor", [2.0, 0.5, 1.2, -1.0])
def test_other_slip_is_told_with_the_subfault_and_both_values(decimals: int, factor: float) -> None:
    srf = rupture(7)
    slip = np.round(srf.slip * 100, decimals) / 100
    slip[17, 1] *= factor
    (told,) = check_slip(replace(srf, slip=slip), "r.srf")
    assert told.startswith("r.srf: slip and slip rates disagree in 1 of 30 subfaults; subfault 18 ")
    assert f"slip2 = {slip[17, 1]:.4g} m" in told
    assert f"integrate to {srf.integrated_slip[17, 1]:.4g} m. The run uses the rates" in told


def test_a_small_earthquake_in_hundredths_of_a_centimetre_is_judged_as_finely() -> None:
    srf = rupture(3)
    tiny = replace(srf, rates=2e-3 * srf.rates, slip=np.round(1e-3 * srf.slip * 100, 2) / 100)
    (told,) = check_slip(tiny, "r.srf")  # slips of a millimetre or so, and twice that
    assert "in 30 of 30 subfaults" in told
    used, stated = (np.linalg.norm(s, axis=1) for s in (tiny.integrated_slip, tiny.slip))
    means = [f"{np.average(size, weights=srf.area):.4g}" for size in (used, stated)]
    assert f"on average {means[0]} m instead of {means[1]} m); if the slips are right" in told


def test_subfaults_that_hardly_slip_do_not_matter() -> None:
    srf = rupture(4)
    rates = np.concatenate([srf.rates[:-21], 1e-3 * srf.rates[-21:]])
    calm = replace(srf, rates=rates)
    slip = calm.integrated_slip
    slip[-1] *= 3
    assert [*check_slip(replace(calm, slip=slip), "r.srf")] == []


@pytest.mark.parametrize("factor", [100.0, 0.01, 0.0])
def test_slip_in_another_unit_is_refused(factor: float) -> None:
    srf = rupture(5)
    with pytest.raises(InputError, match=r"^r\.srf: slip .* in 30 of 30 subfaults.* cm/s: correct"):
        [*check_slip(replace(srf, slip=factor * srf.slip), "r.srf")]


# --- rigidity ------------------------------------------------------------------------------------


def with_rigidity(srf: Srf, factor: float) -> Srf:
    """Version 2.0, with `factor` times MU in two thirds of the subfaults."""
    vs = np.full(POINTS, 3100.0 * np.sqrt(factor))
    vs[::3] = np.nan
    return replace(srf, vs=vs, density=np.full(POINTS, 2700.0), version="2.0")


def moments(srf: Srf, given: np.ndarray, mu: float) -> str:
    slip = np.linalg.norm(srf.integrated_slip, axis=1)
    return f"{(mu * srf.area * slip)[given].sum():.3g} N m"


@pytest.mark.parametrize("factor", [0.55, 1.0, 1.9])
def test_rock_as_stiff_as_the_medium_or_nearly_so_is_accepted(factor: float) -> None:
    srf = with_rigidity(rupture(6), factor)
    assert [*check_rigidity(srf, np.full(POINTS, MU), "r.srf")] == []


@pytest.mark.parametrize("factor", [0.4, 2.2, 30.0, 1 / 30])
def test_another_rigidity_is_told_with_both_moments(factor: float) -> None:
    srf = with_rigidity(rupture(6), factor)
    (told,) = check_rigidity(srf, np.full(POINTS, MU), "r.srf")
    given = ~np.isnan(srf.vs)
    assert f"M0 is {moments(srf, given, factor * MU)} with the file's mu, which the run" in told
    assert f"and {moments(srf, given, MU)} with the medium's; correct the wrong one" in told
    assert f"mu = {factor * MU:.3g} Pa, but the medium has mu = {MU:.3g} Pa there" in told
    named = np.argmax(np.where(given, srf.area * np.linalg.norm(srf.integrated_slip, axis=1), 0))
    assert f"subfault {named + 1} has vs = {3100 * np.sqrt(factor):.4g} m/s" in told


def test_vs_in_metres_per_second_is_refused() -> None:
    """3100 in the file, which has cm/s."""
    srf = with_rigidity(rupture(8), 1e-4)
    with pytest.raises(InputError, match=r"vs = 31 m/s .*: is vs in m/s\? SRF has cm/s; correct"):
        [*check_rigidity(srf, np.full(POINTS, MU), "r.srf")]


def test_other_implausible_rigidity_is_refused_without_a_guess() -> None:
    srf = with_rigidity(rupture(8), 200)
    with pytest.raises(InputError, match=r"Pa there: correct the wrong one, or write -1 for vs"):
        [*check_rigidity(srf, np.full(POINTS, MU), "r.srf")]


def test_slip_in_a_fluid_is_told() -> None:
    srf, mu = rupture(9), np.full(POINTS, MU)
    mu[[4, 11]] = 0.0
    (told,) = check_rigidity(srf, mu, "r.srf")
    assert told.startswith("r.srf: 2 of 30 subfaults in a fluid, where slip has no moment (the")
    assert "first is subfault 5); " in told and "% of the potency, slip times area, is lost" in told


def test_a_rupture_in_a_fluid_is_refused() -> None:
    with pytest.raises(InputError, match=r"all slip, in .* lies in a fluid"):
        [*check_rigidity(rupture(9), np.zeros(POINTS), "r.srf")]
