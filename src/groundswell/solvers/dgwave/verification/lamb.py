"""Lamb's problem: a vertical force on the surface of a half-space, and the surface motion."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.seismology.problems import lamb
from groundswell.seismology.problems.tables import needs_misfits
from groundswell.solvers.dgwave.verification.simulation import make_case, motion
from groundswell.verify import Check

DEGREE = 5
EDGE = {False: 700.0, True: 350.0}  # m, of the elements
# Limits of envelope and phase misfit, %, by distance, m. In the quick form, the nearest receiver is
# 1.3 elements away from the force. In the full form, limits are those of `earthquake`, whose grid
# has 1.5 times as many nodes.
LIMITS = {
    False: {900.0: (2.5, 1.0), 2000.0: (0.4, 0.1), 3300.0: (0.4, 0.1)},
    True: dict.fromkeys((900.0, 2000.0, 3300.0), (0.15, 0.1)),
}


@needs_misfits
def vertical_force(backend: Backend, full: bool) -> Iterator[Check]:
    """Radial and vertical motion at three distances; the worse of the two counts."""
    case = make_case(method={"degree": DEGREE}, boundary={"width": 2}, **lamb.sections(EDGE[full]))
    for distance, found in lamb.misfits(*motion(case, backend)).items():
        limits = LIMITS[full][distance]
        for kind, misfit, limit in zip(("envelope", "phase"), found, limits, strict=True):
            name = f"Lamb's problem at {distance:g} m: {kind} misfit"
            yield Check.at_most(name, misfit, limit, "%", f"elements of {EDGE[full]:g} m")
