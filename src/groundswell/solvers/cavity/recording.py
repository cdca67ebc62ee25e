"""What `[[output.record]]` can record: fields on the finest grid's points, without the walls."""

from __future__ import annotations

from dataclasses import replace

from groundswell.case.recording import RecordSection
from groundswell.grids.cartesian import Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.solvers.cavity.case import AXES
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.middle_plane import middle_plane, plane_attributes

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


def unit_of(kind: str, unit: str) -> str:
    """The unit of values of a kind of fluid, in CF notation: "1" unless its properties have one."""
    return unit if kind == "properties" else "1"


def recordable_of(kind: str) -> dict[str, RecordableField]:
    """The recordable fields of a kind of fluid."""
    return {
        name: replace(field, units=unit_of(kind, field.units)) for name, field in RECORDABLE.items()
    }


FILM, FRAMES = "film.nc", 120  # at most


def records_of(grid: LevelGrid) -> tuple[RecordSection, ...]:
    """The records of a case, and that of its film."""
    output = grid.case.output
    return (*output.record, _film(grid)) if output.film else output.record


def _film(grid: LevelGrid) -> RecordSection:
    """Samples of the layer of points nearest to the middle plane."""
    normal = middle_plane(grid).normal.axis
    where = {"kind": "plane", "normal": AXES[normal], "at": grid.case.grid.size[normal] / 2}
    every = max(1, -(-grid.case.time.steps_in_time // FRAMES))
    content = {"fields": ["T", "u", "v", "w"], "where": where, "every": every, "file": FILM}
    return RecordSection.model_validate(content)


def recording(grid: LevelGrid, part: Part) -> Recording:
    """The recordable fields on a part of the finest grid; adds the neutral temperature to T."""
    a, b, c = (float(axis.positions[0]) for axis in grid.axes)
    origin, size = (a, b, c), grid.case.grid.size
    x, y, z = (axis.positions if axis.is_stretched else None for axis in grid.axes)
    metre, second = (unit_of(grid.case.fluid.kind, unit) for unit in ("m", "s"))
    domain = CartesianDomain(
        part, origin, (0.0, 0.0, 0.0), size, periodic=grid.periodic, nodes=(x, y, z), unit=metre
    )
    fields = recordable_of(grid.case.fluid.kind)
    fields["T"] = replace(fields["T"], shift=grid.fluid.neutral)
    attrs, time = plane_attributes(grid), grid.case.time
    if time.is_unsteady:
        when = time.step, 1, attrs, time.steps_in_time
        return Recording(domain, fields, grid.dtype, *when, time_unit=second)
    at_once = grid.scheme.steps_per_cycle
    return Recording(domain, fields, grid.dtype, at_once=at_once, attrs=attrs)
