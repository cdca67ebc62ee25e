"""Stress, strength and resolution of a fault for `check`, `summary.json` and the report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.case.quantities import Quantity
from groundswell.errors import rounded
from groundswell.seismology.faults.estimates import FaultEstimates, weighted_median
from groundswell.seismology.sources.moment import magnitude_from_moment

LEAST_SPACINGS = 3.0  # per cohesive zone; Day et al. (2005), J. Geophys. Res. 110, B12307
_MOMENT_FACTOR = 2.0  # of moments of faults with the same area and stress drop
_ALL = 0.99  # of an area


def fault_quantities(
    name: str, estimates: FaultEstimates, spacing: float, group: str
) -> Iterator[Quantity]:
    """Yield the size of a fault, its stress and strength, and the length of its cohesive zone.

    Args:
        name: of the fault.
        spacing: between points of the fault, m.
        group: heading of the quantities.
    """
    count, area = len(estimates.points), float(estimates.points.area.sum())
    text = f"{count:,} points, {area / 1e6:.4g} km²"
    yield Quantity(f"fault_{name}_points", count, f"fault {name}", text=text, group=group)
    yield Quantity(f"fault_{name}_area", area, unit="m^2", group=group)
    yield Quantity(
        f"fault_{name}_slipping_area", float(estimates.area.sum()), unit="m^2", group=group
    )
    if estimates.may_slip.any():
        yield from _stresses(name, estimates, group)
        yield from _cohesive_zone(name, estimates, spacing, group)


def _stresses(name: str, estimates: FaultEstimates, group: str) -> Iterator[Quantity]:
    drop, area = estimates.mean_drop, float(estimates.area.sum())
    text = f"{drop / 1e6:.3g} MPa, mean of the {area / 1e6:.4g} km² that may slip"
    yield Quantity(f"fault_{name}_stress_drop", drop, "stress drop", "Pa", text, group)
    least, median = _least_and_median(estimates, estimates.excess[estimates.may_slip])
    text = f"{least / 1e6:.3g} MPa at least, median {median / 1e6:.3g} MPa"
    label = "strength excess"
    yield Quantity(f"fault_{name}_strength_excess", [least, median], label, "Pa", text, group)
    least, median = _least_and_median(estimates, estimates.s_ratio)
    text = f"{least:.3g} at least, median {median:.3g}"
    yield Quantity(f"fault_{name}_s_ratio", [least, median], "S ratio", text=text, group=group)
    bounds = (estimates.moment / _MOMENT_FACTOR, estimates.moment * _MOMENT_FACTOR)
    low, high = map(magnitude_from_moment, bounds)
    text = f"Mw {low:.1f} to {high:.1f}, if all of it slips"
    yield Quantity(f"fault_{name}_magnitude", [low, high], "magnitude", text=text, group=group)


def _cohesive_zone(
    name: str, estimates: FaultEstimates, spacing: float, group: str
) -> Iterator[Quantity]:
    zone = _least_and_median(estimates, estimates.cohesive_zone)
    in_plane = _least_and_median(estimates, estimates.in_plane_zone)
    least, median = zone
    text = (
        f"{median:.4g} m (in-plane {in_plane[1]:.4g} m), {rounded(median / spacing, 'spacing')} of "
        f"{spacing:.4g} m; at least {least:.4g} m, {rounded(least / spacing, 'spacing')}. It "
        "shrinks as the rupture speeds up"
    )
    label = "cohesive zone"
    yield Quantity(f"fault_{name}_cohesive_zone", [*zone], label, "m", text, group)
    yield Quantity(f"fault_{name}_cohesive_zone_in_plane", [*in_plane], unit="m", group=group)
    counts = [length / spacing for length in zone]
    yield Quantity(f"fault_{name}_cohesive_zone_spacings", counts, group=group)


def _least_and_median(estimates: FaultEstimates, values: Floats) -> tuple[float, float]:
    """Of values where points may slip; the median is weighted with the area."""
    return float(values.min()), weighted_median(values, estimates.area)


# --- warnings -------------------------------------------------------------------------------------


def fault_warnings(
    label: str, estimates: FaultEstimates, spacing: float, *, is_reached: bool = False
) -> Iterator[str]:
    """Faults that do not break, break at once, are under tension or are resolved badly.

    Args:
        label: of the fault, see `fault_label`.
        spacing: between points of the fault, m.
        is_reached: whether a rupture may come from another fault.
    """
    yield from _tension(label, estimates)
    if not estimates.may_slip.any():
        yield (
            f"{label} does not break: slip releases stress nowhere, as the initial shear "
            "stress is below the dynamic strength, or static friction is a barrier; correct stress "
            "or friction"
        )
        return
    yield from _overloading(label, estimates)
    if not is_reached and not rupture_starts(estimates):
        yield (
            f"{label} is loaded below its static strength everywhere, so that nothing starts "
            "the rupture; add a nucleation, or a patch of larger shear stress"
        )
    yield from _unresolved(label, estimates, spacing)


def _unresolved(label: str, estimates: FaultEstimates, spacing: float) -> Iterator[str]:
    """Yield a warning if the shortest cohesive zone has too few spacings."""
    least, median = _least_and_median(estimates, estimates.cohesive_zone)
    if least < LEAST_SPACINGS * spacing:
        shortest = np.flatnonzero(estimates.may_slip)[estimates.cohesive_zone.argmin()]
        yield (
            f"{label}: the cohesive zone of a slow rupture has a length of {least:.4g} m at "
            f"{estimates.points.describe(int(shortest))}, {rounded(least / spacing, 'spacing', 2)} "
            f"of {spacing:.4g} m (median {rounded(median / spacing, 'spacing', 2)}); use at least "
            f"{LEAST_SPACINGS:g}, a spacing of at most {least / LEAST_SPACINGS:.4g} m"
        )


def _tension(label: str, estimates: FaultEstimates) -> Iterator[str]:
    normal = estimates.conditions.normal_stress
    if normal.min() < 0:
        place = estimates.points.describe(int(normal.argmin()))
        yield (
            f"{label} is under tension at {int((normal < 0).sum())} of {normal.size} points, "
            f"where only the cohesion holds it: the normal stress is {normal.min():.3g} Pa at "
            f"{place}. Compression is negative in a tensor; lower the fluid pressure, or correct "
            "the stress"
        )


def rupture_starts(estimates: FaultEstimates) -> bool:
    """Whether a point is loaded above its strength, or forced to weaken."""
    return bool(_is_above(estimates).any()) or _is_forced(estimates)


def _is_above(estimates: FaultEstimates) -> Mask:
    """Which of the points that may slip are loaded above their strength."""
    return np.asarray((estimates.loaded > estimates.static)[estimates.may_slip])


def _overloading(label: str, estimates: FaultEstimates) -> Iterator[str]:
    """Yield a warning if every point is loaded above its strength."""
    part = float(np.average(_is_above(estimates), weights=estimates.area))
    if part > _ALL:
        yield (
            f"{label} is loaded above its static strength on {100 * part:.3g} % of the area "
            "that may slip, so that it breaks everywhere at once; lower the shear stress, or raise "
            "the static friction outside the nucleation"
        )


def _is_forced(estimates: FaultEstimates) -> bool:
    """Whether the law forces a point to weaken."""
    onset = getattr(estimates.conditions.law, "forced_onset", np.inf)
    return bool(np.isfinite(onset).any())
