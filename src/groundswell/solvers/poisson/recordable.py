"""What `[[output.record]]` can record."""

from __future__ import annotations

from groundswell.outputs.recording import RecordableField, Recording, RecordingDomain
from groundswell.solvers.poisson.case import PoissonCase

NO_UNIT = "1"  # as CF has it


def recording(case: PoissonCase, domain: RecordingDomain) -> Recording:
    """The recordable field on some elements."""
    unit, attrs = case.output.unit or NO_UNIT, {"title": case.title}
    fields = {"u": RecordableField("u", unit, "solution")}
    if case.time is None:
        return Recording(domain, fields, "float64", attrs=attrs)
    steps = case.time.steps
    return Recording(domain, fields, "float64", case.time.step, attrs=attrs, steps=steps)
