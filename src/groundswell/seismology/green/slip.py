"""Slip as point sources at the points of a strain Green tensor.

Sources come from a file that a case may have as a source, from a case, from the `rupture.nc` of a
dynamic rupture, or from a table of subfaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, did_you_mean, listed
from groundswell.formats.text import read_text
from groundswell.grids.geography import Geography
from groundswell.seismology.faults.subfaults import slip_rates
from groundswell.seismology.formats.fault_series import history_slip, read_history
from groundswell.seismology.green.frames import FRAME, SHIFT, read_frame
from groundswell.seismology.green.point_files import positions_in, read_columns
from groundswell.seismology.green.source_files import RUPTURES, of_case, of_rupture_file
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.point_sources import PointSource, SourceContext
from groundswell.seismology.sources.time_functions import Brune, Cosine, TimeFunction, Triangle

if TYPE_CHECKING:
    import xarray

TOLERANCE = 1.0  # m, distance of a source from its point of the tensor
SLIP_RATES: dict[str, type[Brune | Cosine | Triangle]] = {
    "brune": Brune,
    "cosine": Cosine,
    "triangle": Triangle,
}
NEEDED = ("strike", "dip", "rake", "area", "slip", "rise_time")
COLUMNS = ("x", "y", "longitude", "latitude", "depth", *NEEDED, "onset", "mu")  # of tables
_MISFIT = 1e-6  # of a moment, relative, that the tensors of the store cannot represent


@dataclass(frozen=True, eq=False)
class PointFinder:
    """The points of a tensor, found by their positions.

    Args:
        tensor: see tensor.py.
        tolerance: largest distance of a source from its point, m.
    """

    tensor: xarray.Dataset
    tolerance: float = TOLERANCE

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        names = ("x", "y", "depth")
        return cKDTree(np.stack([self.tensor[name].values for name in names], axis=1))

    def find(self, x: ArrayLike, y: ArrayLike, depth: ArrayLike) -> Integers:
        """The points at positions (m), (n,).

        Raises:
            InputError: there is none within the tolerance.
        """
        places = np.stack(np.broadcast_arrays(*map(np.atleast_1d, (x, y, depth))), axis=1)
        distances, points = self._tree.query(places)
        if (distances > self.tolerance).any():
            n = int(distances.argmax())
            where = ", ".join(f"{value:.6g}" for value in places[n])
            raise InputError(
                f"{int((distances > self.tolerance).sum())} of {len(places)} subfaults are not at "
                f"points of the strain Green tensor: subfault {n + 1} at x, y, depth = {where} m "
                f"is {distances.max():.4g} m from the nearest; record the tensor at the subfaults "
                "of this rupture, or raise the tolerance"
            )
        return np.asarray(points, np.int64)

    def value(self, name: str) -> Any:
        """A function of positions that returns `lam` or `mu` there, Pa."""
        values = self.tensor[name].values

        def at(x: ArrayLike, y: ArrayLike, depth: ArrayLike) -> Floats:
            return np.asarray(values[self.find(x, y, np.add(depth, self.shift))])

        return at

    @property
    def shift(self) -> float:
        """What is added to the depths of a rupture file, m."""
        return float(self.tensor.attrs.get(SHIFT, 0.0))

    @property
    def unshifted(self) -> PointFinder:
        """The same for depths in the region."""
        return replace(self, tensor=self.tensor.assign_attrs({SHIFT: 0.0}))

    @property
    def geography(self) -> Geography | None:
        """The map of longitudes and latitudes, if the tensor has one."""
        given = self.tensor.attrs.get(FRAME)
        return read_frame(str(given)) if given else None

    @property
    def context(self) -> SourceContext:
        """Data on which point sources depend; they are sampled at the time steps of the runs."""
        nowhere = self.value("mu")
        step = float(self.tensor.attrs["time_step"])
        moduli = {"rigidity": nowhere, "lame": self.value("lam"), "density": nowhere}
        return SourceContext(self.geography, step, inf, (1.0, 1.0, 1.0), **moduli)


def read_slip(
    path: str | Path, finder: PointFinder, slip_rate: str = "cosine"
) -> list[PointSource]:
    """The point sources of a rupture.

    Args:
        path: an SRF file (.srf), a slip model (.fsp or .param), a file of events, the `rupture.nc`
            of a run (.nc), a case (.toml) with its sources, or a table (x, y or longitude,
            latitude; depth; strike, dip, rake; area; slip; rise_time; onset and mu if they differ
            from 0 and from the medium), in SI units and degrees.
        finder: the points of the tensor.
        slip_rate: shape of the slip rates of a table, one of SLIP_RATES.

    Raises:
        InputError: the file cannot be read, or subfaults are not at points of the tensor.

    Warns:
        RuptureWarning: the file lacks something, or contradicts itself.
    """
    path = Path(path)
    if path.suffix in (".nc", ".h5"):
        return _of_history(path, finder)
    if path.suffix == ".toml":
        return of_case(path, finder.unshifted.context)
    if path.suffix in RUPTURES or not _is_table(path):
        return of_rupture_file(path, finder.context, finder.shift)
    return _of_table(path, finder, SLIP_RATES[slip_rate])


def _is_table(path: Path) -> bool:
    """Whether the first line of a file has names of columns, or the file is a table by its name."""
    if path.suffix.lower() == ".csv" or not path.is_file():
        return True
    rows = (line for line in read_text(path, "a rupture").splitlines() if line.strip(" #\t"))
    names = next(rows, "").replace(",", " ").lower().split()
    return any(name in COLUMNS for name in names)


def _of_history(path: Path, finder: PointFinder) -> list[PointSource]:
    """Slip rates of a dynamic rupture in the intervals between its samples, as `rupture.srf`."""
    history = read_history(path)
    times = history["time"].values
    if len(times) < 2:
        raise InputError(f"{path} has {len(times)} samples of slip, and at least 2 are needed")
    step = float(times[1] - times[0])
    strike, dip = history["strike"].values, history["dip"].values
    size = history["mu"].values * history["area"].values
    axes = (history[axis].values.tolist() for axis in ("x", "y", "depth"))
    places, start = [*zip(*axes, strict=True)], float(times[0]) - step / 2
    found = list[PointSource]()
    for rates, rake in zip(slip_rates(history_slip(history), step), (0.0, 90.0), strict=True):
        moments = tensors.double_couple(strike, dip, rake, size)
        samples = np.pad(rates, ((1, 1), (0, 0))).T
        found += [
            PointSource(place, moment, None, start, step, rate, n + 1)
            for n, (place, moment, rate) in enumerate(zip(places, moments, samples, strict=True))
            if rate.any()
        ]
    return found


def _of_table(
    path: Path, finder: PointFinder, shape: type[Brune | Cosine | Triangle]
) -> list[PointSource]:
    columns, context = read_columns(path, "a table of subfaults"), finder.context
    if missing := [name for name in NEEDED if name not in columns]:
        raise InputError(f"{path} lacks the columns {', '.join(missing)}; add them to its header")
    _require_valid(path, columns)
    places = positions_in(path, columns, context)
    mu = columns.get("mu", finder.tensor["mu"].values[finder.find(*places.T)])
    size, azimuth = mu * columns["area"] * columns["slip"], float(finder.tensor.attrs["azimuth"])
    strike, dip, rake = (columns[name] for name in ("strike", "dip", "rake"))
    moments = tensors.double_couple(strike, dip, rake, size, azimuth)
    onsets = columns.get("onset", np.zeros(len(places)))
    functions = [
        shape(rise=rise, onset=onset)
        for rise, onset in zip(columns["rise_time"].tolist(), onsets.tolist(), strict=True)
    ]
    return [
        _sampled(place, moment, function, context.step, n + 1)
        for n, (place, moment, function) in enumerate(zip(places, moments, functions, strict=True))
    ]


def _require_valid(path: Path, columns: dict[str, Floats]) -> None:
    """Raise an error for columns that are unknown, perhaps misspelt, and for invalid values."""
    if unknown := [name for name in columns if name not in COLUMNS]:
        near = did_you_mean(unknown[0], COLUMNS)
        raise InputError(f"{path} has the column {unknown[0]}{near}; allowed: {listed(COLUMNS)}")
    for name in ("rise_time", "area", "mu"):
        if name in columns and (columns[name] <= 0).any():
            raise InputError(f"{path}: {name} must be positive in all rows")
    if ((columns["dip"] < 0) | (columns["dip"] > 180)).any():
        raise InputError(f"{path}: dip must be between 0 and 180 degrees in all rows")


def _sampled(
    place: Floats, moment: Floats, function: TimeFunction, step: float, number: int
) -> PointSource:
    """A source whose moment rate is sampled at multiples of a step."""
    first, last = np.floor(function.start / step), np.ceil(function.end / step)
    samples = function(step * np.arange(first, last + 1))
    x, y, depth = place.tolist()
    return PointSource((x, y, depth), moment, None, float(first * step), step, samples, number)


@dataclass(frozen=True, eq=False)
class SlipRows:
    """Point sources as rows of a matrix product.

    Args:
        points: of the tensor, (rows,).
        coefficients: of its tensors in each moment, N m, (rows, components).
        sources: with their moment rates.
    """

    points: Integers
    coefficients: Floats
    sources: Sequence[PointSource]

    @classmethod
    def of(cls, sources: Sequence[PointSource], finder: PointFinder) -> SlipRows:
        """The rows of sources at points of a tensor.

        Raises:
            InputError: a source is not at a point, or its moment is not a sum of the tensors that
                were recorded there.
        """
        if not sources:
            raise InputError("the rupture has no slip; give one that slips")
        points = finder.find(*np.array([source.position for source in sources]).T)
        moments = np.array([source.moment for source in sources], float)
        basis = finder.tensor["basis"].values[points]
        inverse = np.linalg.pinv(basis)
        coefficients = np.einsum("rt,rtc->rc", moments, inverse)
        error = np.abs(np.einsum("rc,rct->rt", coefficients, basis) - moments).max(axis=1)
        wrong = error > _MISFIT * np.abs(moments).max(axis=1)
        if wrong.any():
            number = sources[int(wrong.argmax())].number
            raise InputError(
                f"subfault {number} has slip that is not on the plane for which shear strains were "
                'recorded; record them with components = "tensor", or give the same strike and dip'
            )
        return cls(points, coefficients, sources)

    @property
    def start(self) -> float:
        """Time of the first sample of any source, s."""
        return min(source.start for source in self.sources)

    @property
    def end(self) -> float:
        """Time after the last sample of any source, s."""
        return max(source.start + source.step * source.samples.size for source in self.sources)

    @property
    def onsets(self) -> Floats:
        """Time of the first sample of each source, s, (rows,)."""
        return np.array([source.start for source in self.sources])

    @property
    def positions(self) -> Floats:
        """(rows, 3), m."""
        return np.array([source.position for source in self.sources])
