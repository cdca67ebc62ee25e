"""The fields that `[[output.record]]` can record."""

from __future__ import annotations

from groundswell.outputs.recording import RecordableField
from groundswell.seismology.case.plasticity import STRAIN

_ALONG = {"vx": "x", "vy": "y", "vz": "z, down"}
RECORDABLE = {
    "p": RecordableField("p", "Pa", "pressure"),
    **{n: RecordableField(n, "m s-1", f"particle velocity along {a}") for n, a in _ALONG.items()},
    **{
        f"s{axes}": RecordableField(f"s{axes}", "Pa", f"stress {axes}")
        for axes in ("xx", "yy", "zz", "yz", "xz", "xy")
    },
    STRAIN: RecordableField(STRAIN, "1", "accumulated plastic strain"),
}
