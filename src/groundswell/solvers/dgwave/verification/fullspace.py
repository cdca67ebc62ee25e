"""A double couple in a full space, compared with Aki and Richards' solution."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.seismology.problems import fullspace
from groundswell.seismology.problems.case_sections import needs_misfits
from groundswell.solvers.dgwave.verification.simulation import make_case, motion
from groundswell.verify import Check

DEGREE = 6
# Elements along an edge of the region: odd, so that the source is near the middle of an element.
# The nearest receiver is 720 m away, which is 1.4 elements in the quick form and 2.6 in the full
# one. It has the largest misfits, as a source is a load on the elements around it. Then the limits
# of envelope and phase misfit, %.
ELEMENTS, LIMITS = {False: 9, True: 17}, {False: (2.0, 1.0), True: (0.8, 0.2)}
LENGTH = 2 * fullspace.RADIUS


@needs_misfits
def double_couple(backend: Backend, full: bool) -> Iterator[Check]:
    """Receivers in all directions, with matched layers on all six sides."""
    edge = LENGTH / ELEMENTS[full]
    boundary = {"top": "pml", "width": 2}
    case = make_case(method={"degree": DEGREE}, boundary=boundary, **fullspace.sections(edge))
    found = fullspace.misfits(*motion(case, backend))
    note = f"elements of {edge:.4g} m, the worst receiver"
    for kind, misfit, limit in zip(("envelope", "phase"), found, LIMITS[full], strict=True):
        yield Check.at_most(f"double couple: {kind} misfit", misfit, limit, "%", note)
