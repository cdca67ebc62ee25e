"""Lamb's problem: a vertical force on the surface of a half-space, and the surface motion."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.seismology.problems import lamb
from groundswell.seismology.problems.case_sections import needs_misfits
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

LIMITS = {False: (0.5, 0.2), True: (0.15, 0.1)}  # % of envelope and phase, quick and full


@needs_misfits
def vertical_force(backend: Backend, full: bool) -> Iterator[Check]:
    """Radial and vertical motion at three distances; force and receivers are off the grid."""
    points = 20 if full else 10  # to the shortest S wavelength
    case = sim.make_case(**lamb.sections(lamb.SHORTEST / points))
    where = f"{points} points to the shortest S wavelength, worse of radial and vertical"
    for distance, misfits in lamb.misfits(*sim.motion(case, backend)).items():
        kinds = ("envelope misfit", "phase misfit")
        for kind, value, limit in zip(kinds, misfits, LIMITS[full], strict=True):
            name = f"Lamb's problem at {distance:g} m: {kind}"
            yield Check.at_most(name, value, limit, "%", where)
