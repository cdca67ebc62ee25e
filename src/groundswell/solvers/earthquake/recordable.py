"""What `[[output.record]]` can record: velocities and stresses."""

from __future__ import annotations

from groundswell.grids.cartesian import Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.time_steps import TimeAxis
from groundswell.solvers.earthquake.interpolation import STRESS_OFFSETS, VELOCITY_OFFSETS

_VELOCITY = ("m s-1", "particle velocity along {}")
_STRESS = ("Pa", "stress {}")
_FIELDS = (
    *zip(("vx", "vy", "vz"), VELOCITY_OFFSETS, [_VELOCITY] * 3, ("x", "y", "z, down"), strict=True),
    *(
        (f"s{axes}", offset, _STRESS, axes)
        for axes, offset in zip(("xx", "yy", "zz", "xy", "xz", "yz"), STRESS_OFFSETS, strict=True)
    ),
)


def _from_middle(offset: tuple[float, float, float]) -> tuple[float, float, float]:
    """Offset of a value from its cell's centre, given its offset from the corner."""
    x, y, z = (along - 0.5 for along in offset)
    return x, y, z


RECORDABLE = {
    name: RecordableField(name, units, words.format(axis), _from_middle(offset))
    for name, offset, (units, words), axis in _FIELDS
}


def recording(
    part: Part, periodic: bool, axis: TimeAxis, dtype: str, attrs: Attributes
) -> Recording:
    """The recordable fields of a part of the grid: velocities and stresses of its region.

    Args:
        periodic: whether x and y are periodic.
        attrs: attributes of the files.
    """
    x, y, z = (h / 2 for h in part.grid.spacing)
    lengths = zip(part.grid.region, part.grid.spacing, strict=True)
    a, b, c = (n * h for n, h in lengths)
    domain = CartesianDomain(
        part,
        (x, y, z),
        (0.0, 0.0, 0.0),
        (a, b, c),
        downward=True,
        periodic=(periodic, periodic, False),
    )
    return Recording(
        domain, RECORDABLE, dtype, axis.dt, attrs=attrs, steps=axis.steps, start=axis.start
    )
