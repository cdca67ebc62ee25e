"""Initial conditions of a fault, from its section and its points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.seismology.case.fault import FaultSection, ForcedNucleation, StressNucleation
from groundswell.seismology.case.fault_friction import FrictionSection, varying
from groundswell.seismology.faults.conditions import FaultConditions
from groundswell.seismology.faults.nucleation import added_shear, forced_onset
from groundswell.seismology.faults.places import hypocenter_of, points_in
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.tractions import (
    Traction,
    changed,
    direction_of,
    initial_traction,
    require_direction,
)
from groundswell.seismology.faults.values import values_at
from groundswell.seismology.friction import FastWeakening, FrictionLaw, RateAndState, SlipWeakening

_LAWS: dict[str, Callable[..., FrictionLaw]] = {
    "slip-weakening": SlipWeakening,
    "ageing": partial(RateAndState, law="ageing"),
    "slip": partial(RateAndState, law="slip"),
    "fast-weakening": FastWeakening,
}


def conditions_of(section: FaultSection, points: FaultPoints) -> FaultConditions:
    """Friction, initial stress and nucleation at the points of a fault.

    Args:
        points: all points of the fault, on every rank, since patches and nucleation lie around the
            nearest of them. Values are those at their positions, and edges belong to patches: of
            points that elements share, each copy should lie slightly within its element.

    Raises:
        InputError: a value is out of bounds, a table does not cover the fault, a patch or the
            hypocenter misses it, or the friction law has no initial state there.
    """
    if not len(points):
        raise InputError("the fault has no points; move it into the region")
    patches = [points_in(f"patch[{n}]", p, points) for n, p in enumerate(section.patch)]
    law, traction = _law(section, points, patches), _traction(section, points, patches)
    rate, added = _initial_rate(section, points), _added(section, points, traction)
    return FaultConditions(
        law=law,
        normal_stress=traction.normal,
        shear_strike=traction.components[:, 0].copy(),
        shear_updip=traction.components[:, 1].copy(),
        initial_rate=rate,
        state=_initial_state(section, points, law, traction, rate),
        added_strike=added[:, 0].copy(),
        added_updip=added[:, 1].copy(),
        added_duration=_rise(section),
    )


def _traction(section: FaultSection, points: FaultPoints, patches: list[Mask]) -> Traction:
    traction = initial_traction("stress", section.stress, points)
    for n, (patch, inside) in enumerate(zip(section.patch, patches, strict=True)):
        if patch.stress:
            traction = changed(f"patch[{n}].stress", traction, patch.stress, points, inside)
    return traction


def _law(section: FaultSection, points: FaultPoints, patches: list[Mask]) -> FrictionLaw:
    """The friction law with its parameters at the points, (n,)."""
    defaults = section.friction.defaults.items()
    parameters = {name: np.full(len(points), value) for name, value in defaults}
    for name, friction, inside in _frictions(section, points, patches):
        for key, values in _given(name, friction, points.take(inside)):
            parameters.setdefault(key, np.empty(len(points)))[inside] = values
    return _LAWS[section.law](**parameters, **_forced(section, points))


def _frictions(
    section: FaultSection, points: FaultPoints, patches: list[Mask]
) -> Iterator[tuple[str, FrictionSection, Mask]]:
    """Yield the name, the parameters and the points of the whole fault, then of its patches."""
    yield "friction", section.friction, np.ones(len(points), bool)
    for n, (patch, inside) in enumerate(zip(section.patch, patches, strict=True)):
        if patch.friction:
            yield f"patch[{n}].friction", patch.friction, inside


def _given(
    name: str, friction: FrictionSection, points: FaultPoints
) -> Iterator[tuple[str, Floats]]:
    """Yield the parameters that are given, and their values at points."""
    for key, value in friction.given.items():
        yield key, values_at(f"{name}.{key}", value, varying(friction, key), points)


# --- nucleation and initial state -----------------------------------------------------------------


def _forced(section: FaultSection, points: FaultPoints) -> dict[str, Floats | float]:
    """Parameters of a law that is forced to weaken."""
    nucleation, hypocenter = section.nucleation, section.hypocenter
    if not isinstance(nucleation, ForcedNucleation) or hypocenter is None:
        return {}
    distance = hypocenter_of(points, hypocenter).distance(points)
    return {
        "forced_onset": forced_onset(nucleation, distance),
        "forced_duration": nucleation.duration,
    }


def _added(section: FaultSection, points: FaultPoints, traction: Traction) -> Floats:
    """Additional shear stress along strike and updip, (n, 2), Pa."""
    nucleation, hypocenter = section.nucleation, section.hypocenter
    if not isinstance(nucleation, StressNucleation) or hypocenter is None:
        return np.zeros((len(points), 2))
    distance = hypocenter_of(points, hypocenter).distance(points)
    shear, direction = added_shear(nucleation, distance), traction.direction
    if nucleation.rake is not None:
        direction = direction_of(np.full(len(points), nucleation.rake))
    require_direction("nucleation.shear", shear, direction, points)
    return np.asarray(shear[:, None] * direction)


def _rise(section: FaultSection) -> float:
    """Time within which the additional shear stress rises, s; 0 if there is none."""
    nucleation = section.nucleation
    return nucleation.duration if isinstance(nucleation, StressNucleation) else 0.0


def _initial_rate(section: FaultSection, points: FaultPoints) -> Floats:
    if section.initial_rate is None:
        return np.zeros(len(points))
    return values_at("initial_rate", section.initial_rate, varying(section, "initial_rate"), points)


def _initial_state(
    section: FaultSection, points: FaultPoints, law: FrictionLaw, traction: Traction, rate: Floats
) -> Floats:
    """The state in which the fault slips at the initial rate under the initial stress, (n,).

    Raises:
        InputError: there is none at a point.
    """
    if section.friction.has_state:
        cohesion = law.table(len(points))[law.names.index("cohesion")]
        _require_above(section, points, "normal", traction.normal, np.zeros(len(points)))
        _require_above(section, points, "shear", traction.shear, cohesion)
    return np.asarray(law.initial_state(traction.shear, traction.normal, rate))


def _require_above(
    section: FaultSection, points: FaultPoints, kind: str, stress: Floats, least: Floats
) -> None:
    """Check that a stress is above a bound at all points."""
    if not (stress > least).all():
        n = int(np.argmin(stress > least))
        bound = f"the cohesion, {least[n]:g} Pa," if least[n] else "0"
        raise InputError(
            f"the initial {kind} stress is {stress[n]:g} Pa at "
            f'{points.describe(n)}; it must be above {bound} for law = "{section.law}"'
        )
