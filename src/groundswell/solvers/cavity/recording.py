"""What `[[output.record]]` can record: fields on the finest grid's points, without the walls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from groundswell.grids.cartesian import Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording

if TYPE_CHECKING:
    from groundswell.solvers.cavity.setup import Setup

RECORDABLE = {
    field.name: field
    for field in (
        RecordableField("p", "m2 s-2", "pressure over density, but for a constant"),
        RecordableField("u", "m s-1", "velocity along x"),
        RecordableField("v", "m s-1", "velocity along y"),
        RecordableField("w", "m s-1", "velocity along z"),
        RecordableField("T", "K", "temperature"),
    )
}


def recording(setup: Setup, part: Part) -> Recording:
    """The recordable fields on a part of the finest grid; adds the neutral temperature to T."""
    x, y, z = (float(setup.interior_positions(axis)[0]) for axis in range(3))
    origin, size = (x, y, z), setup.case.grid.size
    domain = CartesianDomain(part, origin, (0.0, 0.0, 0.0), size, periodic=setup.periodic)
    fields = RECORDABLE | {"T": replace(RECORDABLE["T"], shift=setup.fluid.neutral)}
    attrs = {"title": setup.case.title}
    at_once = setup.scheme.steps_per_cycle
    return Recording(domain, fields, setup.dtype, at_once=at_once, attrs=attrs)
