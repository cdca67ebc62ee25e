"""The fields that `[[output.record]]` can record."""

from __future__ import annotations

from collections.abc import Mapping

from groundswell.outputs.recording import Domain, RecordableField, Recording
from groundswell.seismology.time_steps import TimeAxis
from groundswell.solvers.dgwave.equations import Equations

_ALONG = {"vx": "x", "vy": "y", "vz": "z, down"}
RECORDABLE = {
    "p": RecordableField("p", "Pa", "pressure"),
    **{n: RecordableField(n, "m s-1", f"particle velocity along {a}") for n, a in _ALONG.items()},
    **{
        f"s{axes}": RecordableField(f"s{axes}", "Pa", f"stress {axes}")
        for axes in ("xx", "yy", "zz", "yz", "xz", "xy")
    },
}


def recording(
    domain: Domain,
    equations: Equations,
    dtype: str,
    axis: TimeAxis,
    attrs: Mapping[str, str | None],
) -> Recording:
    """The recordable fields of the equations on some elements.

    Args:
        domain: the elements.
        dtype: floating-point type of the fields.
        axis: the times of all steps.
        attrs: attributes of all files.
    """
    fields = {name: RECORDABLE[name] for name in equations.fields}
    return Recording(
        domain, fields, dtype, axis.dt, attrs=attrs, steps=axis.steps, start=axis.start
    )
