"""What `[[output.record]]` can record."""

from __future__ import annotations

from groundswell.outputs.recording import RecordableField, Recording, RecordingDomain
from groundswell.solvers.poisson.case import PoissonCase

SOLUTION = RecordableField("u", "1", "solution")


def recording(case: PoissonCase, domain: RecordingDomain) -> Recording:
    """The recordable field on some elements."""
    fields, attrs = {"u": SOLUTION}, {"title": case.title}
    if case.time is None:
        return Recording(domain, fields, "float64", attrs=attrs)
    steps = case.time.steps
    return Recording(domain, fields, "float64", case.time.step, attrs=attrs, steps=steps)
