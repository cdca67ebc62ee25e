"""Media given as arrays in Python, and the cases of simulations in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import listed
from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.grids.axis import Spacing, Spacings
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.media.material import PROPERTIES, UNITS, unit_factor
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built

if TYPE_CHECKING:
    import xarray

Table = Mapping[str, Any]  # of a case file
Receivers = Sequence[Table] | str | Path  # tables, or a file of stations
C = TypeVar("C", bound=SeismicCase)


class SimulationOptions(TypedDict, total=False):
    """Options of the solvers' `simulate` besides the model, sources, receivers and duration.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> options = gs.earthquake.SimulationOptions(precision="double", boundary={"width": 4})
    >>> vs = np.full((10, 12, 12), 2000.0)
    >>> model = gs.earthquake.Model(1.8 * vs, vs, rho=2500.0, spacing=100.0)
    >>> push = {"kind": "force", "x": 600, "y": 600, "depth": 300, "force": [0, 0, 1e9]}
    >>> pulse = {"kind": "cosine", "rise": "0.5 s"}
    >>> result = gs.earthquake.simulate(
    ...     model, [{**push, "time_function": pulse}], duration="0.2 s", **options
    ... )
    >>> result.shaking_map["pgv"].shape
    (12, 12)

    Attributes:
        folder: results folder. By default a temporary folder, `result.folder`, which is deleted
            together with the result.
        overwrite: replace results of another case in that folder; by default False.
        quiet: show no progress; by default True.
        title: title of the case.
        step: time step, s; by default "auto".
        backend: "cpu" or "cuda"; by default "cpu".
        precision: "single" or "double"; by default "single".
        attenuation, boundary, event, method, output, refinement, topography: sections of a case
            file, as tables, as far as the solver has them.
    """

    folder: str | Path | None
    overwrite: bool
    quiet: bool
    title: str
    step: float | str
    backend: str
    precision: str
    attenuation: Table
    boundary: Table
    event: Table
    method: Table
    output: Table
    refinement: Table
    topography: Table


_AXES = {"depth": ("depth", "z"), "y": ("y",), "x": ("x",)}  # names that a dimension may have
_UNEVEN = 1e-4  # of the spacing, by which coordinates may stray
_RUN = {"backend": "cpu", "precision": "single"}  # defaults
_ARGUMENTS = {  # that give a section of a case file
    "grid": "model",
    "medium": "model",
    "time": "duration and step",
    "source": "sources",
    "receiver": "receivers",
    "run": "backend and precision",
}


@dataclass(frozen=True, eq=False)
class Model:
    """The medium: one value for each cell of a box whose top is the surface.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> vs = np.full((30, 40, 40), 1800.0)  # depth, y, x: a box of 4 km by 4 km by 3 km
    >>> vs[10:] = 3200.0
    >>> model = gs.earthquake.Model(1.75 * vs, vs, rho=2600.0, spacing=100.0)
    >>> model.size
    (4000.0, 4000.0, 3000.0)

    Args:
        vp, vs: wave speeds, m/s; vs = 0 is a fluid.
        rho: density, kg/m^3.
        qp, qs: quality factors; both, or none for an elastic model.
        spacing: edge of the cells, m, or one for each axis (x, y, depth). For DG waves, an axis may
            have a list instead, the edge of each cell.
        geography: position of the model on Earth, as `[grid.geography]` of a case file. Positions
            may then be longitudes and latitudes.

    Arrays have the shape (nz, ny, nx), row 0 at the surface, y northward and x eastward; numbers
    apply to all cells. Raises `InputError` for inconsistent shapes.
    """

    vp: ArrayLike
    vs: ArrayLike
    rho: ArrayLike
    qp: ArrayLike | None = None
    qs: ArrayLike | None = None
    spacing: float | Sequence[float | Sequence[float]] = field(kw_only=True)
    geography: Table | None = None

    def __post_init__(self) -> None:
        if (self.qp is None) != (self.qs is None):
            raise InputError("a model needs both qp and qs, or neither if it is elastic")
        _ = self.properties, self.spacings  # refuse now what does not fit

    @classmethod
    def from_xarray(cls, dataset: xarray.Dataset, geography: Table | None = None) -> Self:
        """The model in the variables `vp`, `vs`, `rho` and, if it is anelastic, `qp` and `qs`.

        Dimensions are `x`, `y` and `depth` (or `z`, downwards) in any order, with the evenly spaced
        coordinates of the cells' centres, of which the first is half a cell from the region's edge.
        The attribute `units` applies; without it, values are in SI units.

        Raises:
            InputError: a variable or dimension is missing, or the coordinates are not as above.
        """
        dimensions = [_dimension(dataset, axis) for axis in _AXES]
        missing = [name for name in ("vp", "vs", "rho") if name not in dataset]
        if missing:
            raise InputError(f"the dataset lacks {', '.join(missing)}; it has {list(dataset)}")
        spacing = [_spacing(dataset, name) for name in reversed(dimensions)]
        values = {
            name: _in_si(_ordered(dataset[name], dimensions), UNITS[name])
            for name in PROPERTIES
            if name in dataset
        }
        return cls(**values, spacing=spacing, geography=geography)

    @property
    def properties(self) -> dict[str, Reals]:
        """Every property that is given, by name, in the shape of all of them, (nz, ny, nx)."""
        given = {name: getattr(self, name) for name in PROPERTIES}
        arrays = {name: np.asarray(value) for name, value in given.items() if value is not None}
        try:
            together = dict(zip(arrays, np.broadcast_arrays(*arrays.values()), strict=True))
        except ValueError:
            together = {}
        if not together or together["vp"].ndim != 3:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise InputError(f"a model needs arrays of one shape (nz, ny, nx); found {shapes}")
        return together

    @property
    def spacings(self) -> Spacings:
        """Edges of the cells along x, y and depth, m."""
        given = [self.spacing] * 3 if isinstance(self.spacing, Real) else self.spacing
        try:
            x, y, depth = (_edges(h) for h in given)  # type: ignore[union-attr]
        except (TypeError, ValueError):
            raise InputError(
                f"spacing = {self.spacing!r}: give the cells' edge in m, or three edges"
            ) from None
        return x, y, depth

    @property
    def size(self) -> tuple[float, ...]:
        """Size of the box along x, y and depth, m."""
        cells = self.properties["vp"].shape[::-1]
        along = zip(cells, self.spacings, strict=True)
        return tuple(sum(h) if isinstance(h, tuple) else n * h for n, h in along)


def case_in_model(
    kind: type[C],
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **options: Any,
) -> C:
    """A case of a solver in a model; arguments as in the solvers' `simulate`.

    Args:
        options: `step`, `backend` and `precision`, and sections of the case.

    Raises:
        CaseError: the case is invalid; lists every problem.
        InputError: other arguments give a section.
    """
    for name, instead in _ARGUMENTS.items():
        if name in options:
            raise InputError(f"{name} is not an argument; give {instead} instead")
    grid = {"size": model.size, "spacing": model.spacings, "geography": model.geography}
    time = {"duration": duration, "step": options.pop("step", "auto")}
    run = {name: options.pop(name, usual) for name, usual in _RUN.items()}
    content = {name: section for name, section in options.items() if section is not None}
    return kind(
        grid=grid,
        time=time,
        medium={"kind": "arrays", **model.properties},
        source=listed(sources),
        **_stations(receivers),
        run=run,
        **content,
    )


def _stations(receivers: Receivers) -> dict[str, Any]:
    """The sections of a case with the receivers."""
    if isinstance(receivers, str | Path):
        return {"receivers": {"file": str(Path(receivers).absolute())}}
    return {"receiver": listed(receivers)}


def simulate_in_model(
    kind: type[C],
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **options: Unpack[SimulationOptions],
) -> Result:
    """Run the case of `case_in_model` to its end; raises what that and `run_built` raise."""
    folder = options.pop("folder", None)
    flags = {"overwrite": options.pop("overwrite", False), "quiet": options.pop("quiet", True)}
    case = case_in_model(kind, model, sources, receivers, duration=duration, **options)
    return run_built(case, folder, **flags)


def _edges(spacing: ArrayLike) -> Spacing:
    """The edge of all cells along an axis, or the edge of each; raises `ValueError`."""
    edges = np.asarray(spacing, float)
    if edges.ndim > 1 or not ((edges > 0) & (edges < np.inf)).all():
        raise ValueError
    return tuple(edges.tolist()) if edges.ndim else float(edges)


# --- datasets -------------------------------------------------------------------------------------


def _dimension(dataset: xarray.Dataset, axis: str) -> Hashable:
    """The dataset's name of an axis."""
    for name in _AXES[axis]:
        if name in dataset.dims and name in dataset.coords:
            return name
    raise InputError(
        f"the dataset has no dimension {' or '.join(_AXES[axis])} with coordinates; its dimensions "
        f"are {', '.join(map(str, dataset.dims))}"
    )


def _spacing(dataset: xarray.Dataset, name: Hashable) -> float:
    """Spacing of a dimension's cells, m, whose centres must start half a cell from zero."""
    centres = _in_si(dataset[name], "m").astype(float)
    if centres.size < 2:
        raise InputError(f"{name} has {centres.size} coordinates; a model needs 2 cells or more")
    h = float((centres[-1] - centres[0]) / (centres.size - 1))
    strays = np.abs(centres - centres[0] - h * np.arange(centres.size)).max()
    if not h > 0 or strays > _UNEVEN * h:
        raise InputError(f"the coordinates of {name} must increase in even steps")
    if abs(centres[0] - h / 2) > _UNEVEN * h:
        raise InputError(
            f"the coordinates of {name} are those of cell centres and start half a cell from the "
            f"edge, at {h / 2:g} m; found {centres[0]:g} m: assign_coords can shift them"
        )
    return h


def _ordered(array: xarray.DataArray, dimensions: Sequence[Hashable]) -> xarray.DataArray:
    if set(array.dims) != set(dimensions):
        found, wanted = (", ".join(map(str, names)) for names in (array.dims, dimensions))
        raise InputError(f"{array.name} has the dimensions {found}; a model needs {wanted}")
    return array.transpose(*dimensions)


def _in_si(array: xarray.DataArray, unit: str) -> Reals:
    factor = unit_factor(str(array.attrs.get("units", "")), unit, str(array.name))
    return array.values if factor == 1 else array.values * factor
