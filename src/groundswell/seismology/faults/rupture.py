"""Moment, slip, duration and energies of a rupture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.quantities import Quantity
from groundswell.seismology.faults.estimates import BREAKING
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.sources.moment import magnitude_from_moment

GROUP = "Rupture"
# Fields of a map of faults; and the shear stress that would be without slip, Pa.
NEEDED = (
    *("mu", "slip_strike", "slip_updip", "rupture_time", "work", "released", "rate_strike"),
    *("rate_updip", "shear_strike", "shear_updip", "load_strike", "load_updip"),
)


@dataclass(frozen=True)
class Rupture:
    """The rupture of one or more faults.

    Args:
        moment: the integral of mu times slip over the faults, N m.
        area: where the slip rate has exceeded 1 mm/s, m^2.
        mean_slip: of this area, m.
        largest_slip: m.
        duration: from the first to the last rupture time, s.
        work: against friction, J.
        released: energy that waves and deformation have received, J.
        radiated: the part of it in waves, J; None while the fault slips.
    """

    moment: float
    area: float
    mean_slip: float
    largest_slip: float
    duration: float
    work: float
    released: float
    radiated: float | None

    @classmethod
    def of(cls, area: Floats, values: Mapping[str, Floats]) -> Rupture:
        """The rupture with these values of a map of faults at its points, (n,).

        Args:
            area: that each point stands for, m^2.
            values: NEEDED.
        """
        slip, time = np.hypot(values["slip_strike"], values["slip_updip"]), values["rupture_time"]
        broken = np.isfinite(time)
        broken_area = float(area[broken].sum())
        return cls(
            float(np.sum(values["mu"] * slip * area)),
            broken_area,
            float(np.sum((slip * area)[broken]) / broken_area) if broken_area else 0.0,
            float(slip.max()),
            float(np.ptp(time[broken])) if broken_area else 0.0,
            float(np.sum(values["work"] * area)),
            float(np.sum(values["released"] * area)),
            _radiated(area, values),
        )

    @property
    def magnitude(self) -> float | None:
        """Mw, to 0.01; None without slip."""
        return round(magnitude_from_moment(self.moment), 2) if self.moment > 0 else None


def _radiated(area: Floats, values: Mapping[str, Floats]) -> float | None:
    """The energy of waves when the fault rests, J: what is released minus that of deformation.

    Deformation has half of the product of stress drop and slip: Kostrov, Izv. Earth Phys. 10:23,
    1974.
    """
    if np.hypot(values["rate_strike"], values["rate_updip"]).max() > BREAKING:
        return None
    static = sum(
        (values[f"load_{way}"] - values[f"shear_{way}"]) * values[f"slip_{way}"] / 2
        for way in ("strike", "updip")
    )
    return float(np.sum((values["released"] - static) * area))


def mean_rigidity(footwall: Floats, hanging: Floats) -> Floats:
    """The mu with which slip between two kinds of rock makes a moment, Pa.

    It is 2 mu1 mu2 / (mu1 + mu2): Wu & Chen, Bull. Seismol. Soc. Am. 93:1832, 2003.
    """
    return np.asarray(2 * footwall * hanging / (footwall + hanging))


def rupture_quantities(
    faults: Mapping[str, FaultPoints], values: Mapping[str, Floats]
) -> Iterator[Quantity]:
    """Yield moment, slip, duration and energies of all faults, and of each of several faults.

    Args:
        faults: the points of each fault, by its name.
        values: see `Rupture.of`, at the points of all faults in this order.
    """
    parts = [points.area for points in faults.values()]
    yield from _quantities("", Rupture.of(np.concatenate(parts), values))
    ends = np.cumsum([len(part) for part in parts])
    if len(faults) == 1:
        return
    for name, area, end in zip(faults, parts, ends, strict=True):
        own = {key: values[key][end - len(area) : end] for key in NEEDED}
        yield from _quantities(name, Rupture.of(area, own))


def _quantities(name: str, found: Rupture) -> Iterator[Quantity]:
    """The quantities of a fault, or of all (with an empty name)."""
    key, label = (f"fault_{name}_", f"fault {name}") if name else ("", "rupture")
    size = f"Mw {found.magnitude:.2f}, M0 {found.moment:.3g} N m" if found.magnitude else "no slip"
    slip = (
        f"mean slip {found.mean_slip:.3g} m on {found.area / 1e6:.4g} km², at most "
        f"{found.largest_slip:.3g} m, in {found.duration:.3g} s"
    )
    text = f"{size}; {slip}" if found.magnitude else size
    yield Quantity(f"{key}moment", found.moment, label, "N m", text, GROUP)
    yield Quantity(f"{key}magnitude", found.magnitude, group=GROUP)
    yield Quantity(f"{key}broken_area", found.area, unit="m^2", group=GROUP)
    yield Quantity(f"{key}mean_slip", found.mean_slip, unit="m", group=GROUP)
    yield Quantity(f"{key}largest_slip", found.largest_slip, unit="m", group=GROUP)
    yield Quantity(f"{key}duration", found.duration, unit="s", group=GROUP)
    yield from _energies(key, found, "" if name else "energy")


def _energies(key: str, found: Rupture, label: str) -> Iterator[Quantity]:
    text = f"work against friction {found.work:.3g} J, released {found.released:.3g} J"
    if found.radiated is not None:
        text += f", of which {found.radiated:.3g} J in waves"
    yield Quantity(f"{key}work", found.work, label * bool(found.magnitude), "J", text, GROUP)
    yield Quantity(f"{key}released_energy", found.released, unit="J", group=GROUP)
    yield Quantity(f"{key}radiated_energy", found.radiated, unit="J", group=GROUP)
