"""Recording on Cartesian grids: selects the nodes of a rank's part for points, planes and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers, Mask
from groundswell.case.recording import (
    AllWhere,
    BoxWhere,
    LineWhere,
    MaskWhere,
    PlaneWhere,
    PointsWhere,
    Where,
)
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import Variable
from groundswell.grids.cartesian import Part, Triple
from groundswell.outputs.positions import line_frame, point_frame, positions_of
from groundswell.outputs.recording import (
    BoxSelection,
    Frame,
    PointSelection,
    RecordableField,
    Selection,
)
from groundswell.outputs.stencils import stencil

AXES = ("x", "y", "z")
TAPS = {"nearest": 1, "linear": 2, "cubic": 4}
ROUNDING = 1e-9  # tolerance of positions at bounds, in cells


@dataclass(frozen=True)
class RecordedCells:
    """The recorded cells of one part of the grid.

    Args:
        first: index of the first cell (i, j, k) in the part's region.
        count: number of cells (nx, ny, nz).
        place: their place among the recorded cells of all parts (z, y, x).
    """

    first: Triple
    count: Triple
    place: tuple[slice, slice, slice]


def recorded_cells(part: Part, runs: Sequence[range]) -> RecordedCells:
    """The cells of a part that lie in these ranges (x, y, z) of the region's cells."""
    axes = zip(part.region_start, part.region, runs, strict=True)
    found = [_recorded_along(start, count, run) for start, count, run in axes]
    (fx, nx, x), (fy, ny, y), (fz, nz, z) = found
    return RecordedCells((fx, fy, fz), (nx, ny, nz), (z, y, x))


def _recorded_along(start: int, count: int, run: range) -> tuple[int, int, slice]:
    """First cell, counted in the part, number of cells, and place along one axis."""
    begin, end = (
        min(max(-(-(edge - run.start) // run.step), 0), len(run)) for edge in (start, start + count)
    )
    return run.start + begin * run.step - start, end - begin, slice(begin, end)


def strided(region: Triple, stride: int) -> tuple[range, range, range]:
    """Every `stride`-th cell of (nx, ny, nz), starting with the first."""
    x, y, z = (range(0, n, stride) for n in region)
    return x, y, z


@dataclass(frozen=True)
class CartesianDomain:
    """The part of a Cartesian region that one rank holds; its arrays cover this part only.

    Args:
        part: the cells of this rank.
        origin: centre of the region's first cell (x, y, z), m.
        low, high: corners of the box of allowed positions, m.
        downward: whether z is depth.
        periodic: whether x, y and z are periodic: interpolation continues across their ends.
        nodes: positions of the region's values along axes on which they are not evenly spaced, m.
        unit: of positions in files; "1" if the solver has none.
    """

    part: Part
    origin: tuple[float, float, float]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    downward: bool = False
    periodic: tuple[bool, bool, bool] = (False, False, False)
    nodes: tuple[Floats | None, Floats | None, Floats | None] = (None, None, None)
    unit: str = "m"

    def select(self, where: Where, fields: Sequence[RecordableField]) -> Selection:
        """Select the values of fields at a place."""
        if isinstance(where, PointsWhere | LineWhere):
            positions = positions_of(where)
            self._require_inside(positions)
            line = isinstance(where, LineWhere)
            frame = (line_frame if line else point_frame)(positions, fields, self.unit)
            return self._at(positions, TAPS[where.method], fields, frame)
        if isinstance(where, MaskWhere):
            return self._masked(where, fields)
        if isinstance(where, PlaneWhere) and where.points is not None:
            raise InputError(
                "where.points is for planes across elements; leave it out, and choose stride"
            )
        squeezed = where.normal if isinstance(where, PlaneWhere) else None
        return self.box(self.runs(where), fields, squeezed)

    def runs(self, where: AllWhere | BoxWhere | PlaneWhere) -> tuple[range, range, range]:
        """The selected cells of the region along x, y and z."""
        x, y, z = strided(self.part.grid.region, where.stride or 1)
        if isinstance(where, BoxWhere):
            x, y, z = (self._between(axis, where) for axis in range(3))
        if isinstance(where, PlaneWhere):
            axis = AXES.index(where.normal)
            layer = self._layer(axis, where.at)
            x, y, z = (layer if a == axis else run for a, run in enumerate((x, y, z)))
        return x, y, z

    def box(
        self,
        runs: tuple[range, range, range],
        fields: Sequence[RecordableField],
        squeezed: str | None = None,
    ) -> BoxSelection:
        """Select these cells; files omit the axis `squeezed`."""
        own = recorded_cells(self.part, runs)
        x, y, z = runs
        return BoxSelection(
            (len(z), len(y), len(x)),
            own.count[::-1],
            own.place,
            self._frame(runs, fields, squeezed),
            own.first[::-1],
            (z.step, y.step, x.step),
        )

    def coordinate(self, axis: int, cells: ArrayLike, offset: float = 0.0) -> Floats:
        """Coordinates of values along an axis, m, by cell index in the region."""
        where, nodes = np.asarray(cells) + offset, self.nodes[axis]
        if nodes is not None:
            return np.asarray(np.interp(where, np.arange(len(nodes)), nodes))
        return np.asarray(self.origin[axis] + where * self.part.grid.spacing[axis], np.float64)

    # --- boxes ------------------------------------------------------------------------------------

    def _cells(self, axis: int, position: Any) -> Any:
        """A position along an axis, in cells from the centre of the first cell."""
        nodes = self.nodes[axis]
        if nodes is not None:
            cell = np.clip(np.searchsorted(nodes, position, side="right") - 1, 0, len(nodes) - 2)
            return cell + (position - nodes[cell]) / (nodes[cell + 1] - nodes[cell])
        return (position - self.origin[axis]) / self.part.grid.spacing[axis]

    def _between(self, axis: int, where: BoxWhere) -> range:
        count = self.part.grid.region[axis]
        first = max(0, ceil(self._cells(axis, where.low[axis]) - ROUNDING))
        last = min(count - 1, floor(self._cells(axis, where.high[axis]) + ROUNDING))
        if first > last:
            ends = self.coordinate(axis, (0, count - 1))
            raise InputError(
                f"no cell centre lies between {AXES[axis]} = {where.low[axis]:g} and "
                f"{where.high[axis]:g} m; they are {self._apart(axis)} m apart, from {ends[0]:g} "
                f"to {ends[1]:g} m"
            )
        return range(first, last + 1, where.stride)

    def _apart(self, axis: int) -> str:
        nodes = self.nodes[axis]
        if nodes is None:
            return f"{self.part.grid.spacing[axis]:g}"
        return f"{np.diff(nodes).min():g} to {np.diff(nodes).max():g}"

    def _layer(self, axis: int, at: float) -> range:
        self._require_along(axis, np.array([at]))
        count = self.part.grid.region[axis]
        layer = min(max(floor(self._cells(axis, at) + 0.5), 0), count - 1)
        return range(layer, layer + 1)

    def _frame(
        self, runs: Sequence[range], fields: Sequence[RecordableField], squeezed: str | None
    ) -> Frame:
        """Coordinates of the fields; staggered fields have coordinates of their own."""
        coordinates: dict[str, Variable] = {}
        dims: dict[str, list[str]] = {field.name: [] for field in fields}
        for axis in (2, 1, 0):
            for field in fields:
                values = self.coordinate(axis, runs[axis], field.offset[axis])
                name = _name_of(AXES[axis], field.name, values, coordinates)
                one = AXES[axis] == squeezed
                where = () if one else (name,)
                kept = values[0] if one else values
                coordinates[name] = Variable(where, kept, attrs=self._attrs(axis))
                dims[field.name] += where
        return Frame(coordinates, {name: tuple(those) for name, those in dims.items()})

    def _attrs(self, axis: int) -> dict[str, str]:
        down = {"positive": "down"} if axis == 2 and self.downward else {}
        return {"units": self.unit, "axis": AXES[axis].upper(), **down}

    # --- points -----------------------------------------------------------------------------------

    def _masked(self, where: MaskWhere, fields: Sequence[RecordableField]) -> PointSelection:
        shape = self.part.grid.region[::-1]
        flat = read_mask(where, shape)
        cells = np.stack(np.unravel_index(flat, shape), axis=-1).astype(np.int64)
        positions = np.stack([self.coordinate(a, cells[:, 2 - a]) for a in range(3)], axis=-1)
        frame = point_frame(positions, fields, self.unit)
        index = Variable(("point",), flat, attrs={"long_name": "flat index (z, y, x)"})
        frame = Frame({**frame.coordinates, "index": index}, frame.dims)
        return self._owned(np.stack([cells] * len(fields)), cells, frame)

    def _at(
        self, positions: Floats, most: int, fields: Sequence[RecordableField], frame: Frame
    ) -> PointSelection:
        """Select the cells that contain positions, or up to `most` nodes per axis around them.

        The rank that owns the cell reads the other nodes from its ghosts. Near the ends of the
        region the stencil is shifted inwards, and the owner of the shifted centre reads it. Along
        a periodic axis the ghosts hold the images of the nodes beyond the ends.
        """
        counts, wraps = np.array(self.part.grid.region[::-1]), self._wraps
        middles = [self._cells(axis, positions[:, axis]) for axis in (2, 1, 0)]
        cells = np.floor(np.stack(middles, axis=-1) + 0.5).astype(np.int64)
        if most == 1:
            cells = np.clip(cells, 0, counts - 1)
            return self._owned(np.stack([cells] * len(fields)), cells, frame)
        taps = np.where(wraps, most, np.minimum(most, counts))
        found = [self._stencils(middles, taps, field) for field in fields]
        firsts, weights = (np.stack(those) for those in zip(*found, strict=True))
        inwards = (taps - 1) // 2
        inside = np.clip(cells, inwards, counts - 1 - inwards)
        owners = np.where(wraps, cells % counts, inside)
        firsts += np.where(wraps, owners - cells, 0)  # to the image of the owner's cell
        return self._owned(firsts, owners, frame, tuple(taps.tolist()), weights)

    @property
    def _wraps(self) -> Mask:
        """Whether values continue across the ends of each axis (z, y, x); one cell has no seam."""
        axes = zip(self.periodic, self.part.grid.region, strict=True)
        return np.array([periodic and cells > 1 for periodic, cells in axes][::-1])

    def _stencils(
        self, middles: Sequence[Floats], taps: Integers, field: RecordableField
    ) -> tuple[Integers, Floats]:
        """First nodes (points, 3) in the order (z, y, x), and weights (points, taps)."""
        cells = zip(self.part.grid.region[::-1], self._wraps, strict=True)
        counts = [None if wraps else count for count, wraps in cells]
        axes = zip(middles, field.offset[::-1], counts, taps, self.nodes[::-1], strict=True)
        found = (stencil(at - o, n, t, nodes) for at, o, n, t, nodes in axes)
        firsts, (z, y, x) = zip(*found, strict=True)
        weights = z[:, :, None, None] * y[:, None, :, None] * x[:, None, None, :]
        return np.stack(firsts, axis=-1), weights.reshape(len(x), -1)

    def _owned(
        self,
        firsts: Integers,
        owners: Integers,
        frame: Frame,
        taps: tuple[int, ...] = (1, 1, 1),
        weights: Floats | None = None,
    ) -> PointSelection:
        """The points whose cell in `owners` (z, y, x) is in this part."""
        start, count = (np.array(t[::-1]) for t in (self.part.region_start, self.part.region))
        local = owners - start
        mine = np.flatnonzero(((local >= 0) & (local < count)).all(axis=-1))
        kept = None if weights is None else weights[:, mine]
        cells = firsts[:, mine] - start
        return PointSelection(
            (len(owners),), (len(mine),), (mine,), frame, cells, tuple(taps), kept
        )

    def _require_inside(self, positions: Floats) -> None:
        for axis in range(3):
            self._require_along(axis, positions[:, axis])

    def _require_along(self, axis: int, values: Floats) -> None:
        low, high = self.low[axis], self.high[axis]
        slack = ROUNDING * self.part.grid.spacing[axis]
        bad = values[~((values >= low - slack) & (values <= high + slack))]
        if len(bad):
            raise InputError(
                f"{AXES[axis]} = {bad[0]:g} m of output.record lies outside the domain; allowed: "
                f"{low:g} to {high:g} m"
            )


def _name_of(axis: str, field: str, values: Floats, known: dict[str, Variable]) -> str:
    """The name of the coordinate with these values: an existing one if equal, else a new one."""
    for name, variable in known.items():
        same = np.array_equal(np.atleast_1d(variable.values), values)
        if name.partition("_")[0] == axis and same:
            return name
    return axis if axis not in known else f"{axis}_{field}"


def read_mask(where: MaskWhere, shape: tuple[int, ...], section: str = "output.record") -> Integers:
    """Read flat indices into an array of this shape.

    Raises:
        InputError: the file is damaged, does not contain a mask of this shape or indices, or an
            index is out of range. The message names the `section` of the case.
    """
    found: Any = where.indices
    if where.file is not None:
        with read_errors_reported(where.file, "a NumPy file"):
            found = np.load(where.file, allow_pickle=False)
    if found.dtype == bool and found.shape != shape and where.file is not None:
        raise InputError(f"{where.file} holds a mask of shape {found.shape}; it must be {shape}")
    flat = np.flatnonzero(found) if found.dtype == bool else found.ravel()
    if flat.dtype.kind not in "iu" or not flat.size:
        content = "selects nothing" if not flat.size else f"holds values of type {flat.dtype}"
        raise InputError(f"{where.file} {content}; it must hold indices, or a mask {shape}")
    if flat.min() < 0 or flat.max() >= np.prod(shape):
        raise InputError(
            f"{section} has the index {flat.max()}; the region has {np.prod(shape)} cells, so "
            f"allowed: 0 to {np.prod(shape) - 1}"
        )
    return flat.astype(np.int64)
