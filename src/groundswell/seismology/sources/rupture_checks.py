"""Consistency of rupture files: slip against slip rates, rigidity against that of the medium."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError, counted
from groundswell.seismology.formats.srf_content import Srf

# Rupture generators cut the tails of slip rates, and sample them coarsely. 5 % of the slip changes
# Mw by 0.014.
_SLIP_TOLERANCE = 0.05
_SMALL_SLIP = 0.01  # fraction of the largest slip; errors below it do not matter
_MAX_DECIMALS = 6  # of a slip in cm

_NOTABLE_RATIO = 2.0  # of two moments; changes Mw by 0.2
# Wrong units change a moment by a factor of 100 (m for cm) or more. Rigidities of soft sediment and
# of the deep crust differ by a factor of about 50.
_IMPLAUSIBLE_RATIO = 50.0
_LEAST_VS = 100.0  # m/s; if vs is lower, the file probably has it in m/s
SRF_CURE = "correct the wrong one, or write -1 for vs and density to use the medium's"


def check_slip(rupture: Srf, name: str) -> Iterator[str]:
    """Yield a warning if slip rates do not integrate to the slip that the file states.

    The difference may be 5 % of the slip, plus the rounding of the stated slips or 1 % of the
    largest slip, whichever is larger.

    Args:
        name: name of the file.

    Raises:
        InputError: stated and integrated slip differ by a factor of 50 or more on average.
    """
    stated, used = rupture.slip, rupture.integrated_slip
    size = np.maximum(np.abs(stated), np.abs(used))
    allowed = max(_rounding(stated), _SMALL_SLIP * size.max()) + _SLIP_TOLERANCE * size
    excess = np.abs(used - stated) - allowed
    wrong = (excess > 0).any(axis=1)
    if not wrong.any():
        return
    subfault, component = np.unravel_index(int(excess.argmax()), excess.shape)
    slip = f"slip{component + 1} = {stated[subfault, component]:.4g} m"
    text = (
        f"{name}: slip and slip rates disagree in {wrong.sum()} of {len(rupture)} subfaults; "
        f"subfault {subfault + 1} has {slip}, but its rates integrate to "
        f"{used[subfault, component]:.4g} m"
    )
    averages = [_average_slip(rupture, slips) for slips in (used, stated)]
    on_average = f"on average {averages[0]:.4g} m instead of {averages[1]:.4g} m"
    if _ratio(*averages) >= _IMPLAUSIBLE_RATIO:
        raise InputError(
            f"{text} ({on_average}); slips are in cm and rates in cm/s: correct the wrong ones"
        )
    yield f"{text}. The run uses the rates ({on_average}); if the slips are right, scale the rates"


def check_rigidity(rupture: Srf, medium: Floats, name: str, cure: str = SRF_CURE) -> Iterator[str]:
    """Yield a warning if subfaults lie in a fluid, or if file and medium differ in rigidity.

    The second warning compares the moments with the rigidities of the file and of the medium. It
    appears if they differ by a factor of 2 or more.

    Args:
        medium: mu of the medium at the subfaults, Pa, (n,).
        name: name of the file.
        cure: what the user can do about different rigidities, the end of the message.

    Raises:
        InputError: all slip is in a fluid, or the moments differ by a factor of 50 or more.
    """
    own, potency = rupture.rigidity, rupture.area * np.linalg.norm(rupture.integrated_slip, axis=1)
    given = ~np.isnan(own)
    yield from _slip_in_fluid(~given & (medium == 0), potency, name)
    moments = [float((potency * mu)[given].sum()) for mu in (own, medium)]
    ratio = _ratio(*moments)
    if ratio < _NOTABLE_RATIO:
        return
    difference = np.where(given, potency * np.abs(own - medium), 0.0)
    subfault = int(difference.argmax())
    text = _rigidity_text(rupture, medium, subfault, name)
    if ratio >= _IMPLAUSIBLE_RATIO:
        unit = "is vs in m/s? SRF has cm/s; " if rupture.vs[subfault] < _LEAST_VS else ""
        raise InputError(f"{text}: {unit}{cure}")
    yield (
        f"{text}. M0 is {moments[0]:.3g} N m with the file's mu, which the run uses, and "
        f"{moments[1]:.3g} N m with the medium's; {cure}"
    )


def _slip_in_fluid(is_fluid: Mask, potency: Floats, name: str) -> Iterator[str]:
    """Yield a warning of slip in a fluid, with its part of the potency (slip times area).

    Raises:
        InputError: all slip is in a fluid.
    """
    in_fluid = is_fluid & (potency > 0)
    if in_fluid.any() and in_fluid.sum() == (potency > 0).sum():
        raise InputError(
            f"{name}: all slip, in {counted(in_fluid.sum(), 'subfault')}, lies in a fluid, where "
            "it has no moment; move the rupture, or correct the medium"
        )
    if in_fluid.any():
        part = potency[in_fluid].sum() / potency.sum()
        yield (
            f"{name}: {in_fluid.sum()} of {in_fluid.size} subfaults in a fluid, where slip has "
            f"no moment (the first is subfault {int(in_fluid.argmax()) + 1}); {100 * part:.2g} % "
            "of the potency, slip times area, is lost. Move the rupture, or correct the medium"
        )


def _rigidity_text(rupture: Srf, medium: Floats, subfault: int, name: str) -> str:
    vs, density = rupture.vs[subfault], rupture.density[subfault]
    return (
        f"{name}: the rigidity of the file differs from that of the medium; subfault "
        f"{subfault + 1} has vs = {vs:.4g} m/s and density = {density:.4g} kg/m^3, so that mu = "
        f"{rupture.rigidity[subfault]:.3g} Pa, but the medium has mu = {medium[subfault]:.3g} Pa "
        "there"
    )


def _average_slip(rupture: Srf, slip: Floats) -> float:
    """Area average of the magnitude of `slip` (n, 3), m."""
    return float(np.average(np.linalg.norm(slip, axis=1), weights=rupture.area))


def _ratio(a: float, b: float) -> float:
    """The larger of two non-negative numbers over the smaller; 1 if both are zero."""
    large, small = max(a, b), min(a, b)
    if large == 0:
        return 1.0
    return large / small if small > 0 else float("inf")


def _rounding(slip: Floats) -> float:
    """Rounding error of the slips (n, 3), m: half a unit of their last decimal in cm."""
    for decimals in range(_MAX_DECIMALS):
        units = slip * 1e2 * 10**decimals
        if np.allclose(units, np.round(units), rtol=0, atol=1e-6):
            return float(0.5e-2 * 10.0**-decimals)
    return 0.0
