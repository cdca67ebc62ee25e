"""What `[[output.record]]` can record: velocities, stresses and plastic strain."""

from __future__ import annotations

from groundswell.grids.cartesian import Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField
from groundswell.seismology.case.plasticity import STRAIN
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
RECORDABLE[STRAIN] = RecordableField(STRAIN, "1", "accumulated plastic strain", (0.0, 0.0, 0.0))


def recordable_domain(part: Part, periodic: bool) -> CartesianDomain:
    """The region of a part of the grid; x and y may be periodic."""
    middle = [h / 2 for h in part.grid.spacing]
    high = [n * h for n, h in zip(part.grid.region, part.grid.spacing, strict=True)]
    return CartesianDomain(
        part,
        (middle[0], middle[1], middle[2]),
        (0.0, 0.0, 0.0),
        (high[0], high[1], high[2]),
        downward=True,
        periodic=(periodic, periodic, False),
    )
