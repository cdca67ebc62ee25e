"""The fields that `[[output.record]]` can record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundswell.outputs.recording import Domain, RecordableField, Recording
from groundswell.seismology.sources.event import date_attributes

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

_ALONG = {"vx": "x", "vy": "y", "vz": "z, down"}
RECORDABLE = {
    "p": RecordableField("p", "Pa", "pressure"),
    **{n: RecordableField(n, "m s-1", f"particle velocity along {a}") for n, a in _ALONG.items()},
    **{
        f"s{axes}": RecordableField(f"s{axes}", "Pa", f"stress {axes}")
        for axes in ("xx", "yy", "zz", "yz", "xz", "xy")
    },
}


def recording(setup: Setup, domain: Domain) -> Recording:
    """The recordable fields of the equations on some elements."""
    fields = {name: RECORDABLE[name] for name in setup.equations.fields}
    axis, attrs = setup.time_axis, date_attributes(setup.case, setup.survey)
    return Recording(
        domain, fields, setup.dtype, axis.dt, attrs=attrs, steps=axis.steps, start=axis.start
    )
