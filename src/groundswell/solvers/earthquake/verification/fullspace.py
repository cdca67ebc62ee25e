"""A double couple in a full space, compared with Aki and Richards' solution."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.seismology.problems import fullspace
from groundswell.seismology.problems.case_sections import needs_misfits
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check


@needs_misfits
def double_couple(backend: Backend, full: bool) -> list[Check]:
    """Receivers in all directions, off the grid, with absorbing layers on all six sides."""
    points = 20 if full else 10  # to the shortest S wavelength
    sections = fullspace.sections(fullspace.SHORTEST / points)
    case = sim.make_case(boundary={"top": "absorbing"}, **sections)
    envelope, phase = fullspace.misfits(*sim.motion(case, backend))
    where = f"{points} points to the shortest S wavelength, the worst receiver"
    limits = (0.1, 0.05) if full else (0.4, 0.15)
    return [
        Check.at_most("double couple: envelope misfit", envelope, limits[0], "%", where),
        Check.at_most("double couple: phase misfit", phase, limits[1], "%", where),
    ]
