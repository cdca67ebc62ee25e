"""Simulated intensities: ground motion of the variations of ruptures, from a dataset.

A dataset has the dimensions `rupture`, `site` (or `station`) and, if there are several simulations
of a rupture, `variation`. The coordinates of the first two contain names. Alternatively, a single
dimension counts all simulations, with a coordinate `rupture` that names the rupture of each one.
Sites may be replaced by a map on `y` and `x`. Spectra also have the dimension `period`, and
components the dimension `component`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.errors import InputError, counted, did_you_mean, listed
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.formats.zarr_library import require_zarr
from groundswell.seismology.hazard.exceedance import Lognormal, Samples
from groundswell.seismology.hazard.measures import ACCELERATIONS, GRAVITY, Measure
from groundswell.seismology.hazard.ruptures import Ruptures, some
from groundswell.seismology.hazard.sites import Sites, names_of_grid, plane

if TYPE_CHECKING:
    import xarray

_ACCELERATION = {
    **dict.fromkeys(("m s-2", "m/s^2", "m/s2"), 1.0),
    **{"g": GRAVITY, "cm/s^2": 0.01, "cm s-2": 0.01},
}
_SPEED = {"m s-1": 1.0, "m/s": 1.0, "cm/s": 0.01, "cm s-1": 0.01}
_UNITS = {
    **dict.fromkeys(ACCELERATIONS, _ACCELERATION),
    **dict.fromkeys(("pgv", "arias", "cav"), _SPEED),
    **{"pgd": {"m": 1.0, "cm": 0.01}, "d5": {"s": 1.0}},
}
_HORIZONTAL = ("E", "N")
COMBINED = ("geometric-mean", "larger")
RUPTURE = "rupture"  # the coordinate that names ruptures
_SAME_PLACE = 1e3  # m, between the positions of a site in two files
_PERIOD_TOLERANCE = 1e-3  # relative


class Intensities:
    """Simulated intensities of one dataset.

    Args:
        dataset: see the module.
        source: name of the dataset in messages.
        component: "E", "N" or "Z", "geometric-mean" or "larger", if there are components.
        rupture: the coordinate that names ruptures.

    Raises:
        InputError: the dataset has no ruptures or no sites.
    """

    def __init__(
        self,
        dataset: xarray.Dataset,
        source: object,
        component: str | None = None,
        rupture: str = RUPTURE,
    ) -> None:
        self._source, self._component = source, component
        if component and "component" not in dataset.dims:
            raise InputError(f"{source}: has no components; leave out component = {component!r}")
        self._grid: tuple[int, int] | None = None
        dataset = _with_ruptures(dataset, rupture, source)
        if {"x", "y"} <= set(dataset.dims):
            self._grid = (dataset.sizes["y"], dataset.sizes["x"])
            dataset = _stacked(dataset)
        self._data = dataset.rename({"station": "site"}) if "station" in dataset.dims else dataset
        if "site" not in self._data.dims:
            dims = listed(map(str, dataset.dims)) if dataset.dims else "nothing"
            raise InputError(f"{source}: needs sites; it has the dimensions {dims}")
        self._simulations = _simulations(self._data, source)

    @classmethod
    def open(cls, path: Path, component: str | None = None, rupture: str = RUPTURE) -> Intensities:
        """Open a NetCDF file, or a Zarr store (a folder). Raises `InputError`."""
        return cls(_open(path), path, component, rupture)

    def sites(self, vs30: float) -> Sites:
        """The sites of the dataset.

        Raises:
            InputError: they have no positions.
        """
        data = self._data
        pairs = (("longitude", "latitude"), ("x", "y"))
        pair = next((p for p in pairs if all(name in data.variables for name in p)), None)
        if pair is None:
            raise InputError(f"{self._source}: its sites have no positions; give [sites]")
        horizontal = np.column_stack([np.asarray(data[name].values, float) for name in pair])
        count = len(horizontal)
        unknown = np.full(count, np.nan)
        return Sites(
            self._site_names,
            horizontal,
            pair == pairs[0],
            np.full(count, vs30),
            unknown,
            self._grid,
        )

    def samples(self, measure: Measure, ruptures: Ruptures, sites: Sites) -> Samples:
        """The motion of all variations of the ruptures at the sites.

        Raises:
            InputError: a rupture, a site or the measure is missing, or values are invalid.
        """
        places = _positions(self._site_names, sites.names, f"{self._source}: sites")
        self._require_near(sites, places)
        array = self._values(measure).isel(site=places)
        values = np.asarray(array.transpose(*self._order).values, float)
        values = values.reshape(-1, values.shape[-1]) * self._unit(array, measure)
        self._require_valid(values, measure)
        groups = [self._rows(name) for name in ruptures.names]
        most = max(map(len, groups))
        filled = np.full((len(groups), most, len(sites)), np.nan)
        for n, rows in enumerate(groups):
            filled[n, : len(rows)] = values[rows]
        if (missing := ~np.isfinite(filled).any(axis=1)).any():
            names = [ruptures.names[n] for n in np.flatnonzero(missing.any(axis=1))]
            raise InputError(f"{self._source}: {measure} of rupture {some(names)} has no values")
        self._require_complete(filled, [*map(len, groups)], measure, (ruptures, sites))
        return Samples(filled)

    def lognormal(self, measure: Measure, ruptures: Ruptures, sites: Sites) -> Lognormal:
        """A lognormal distribution for each rupture and site; raises as `samples`."""
        samples = self.samples(measure, ruptures, sites)
        if (samples.values <= 0).any():
            raise InputError(
                f"{self._source}: {measure} has values of 0, which have no logarithm; use "
                'distribution = "samples"'
            )
        return samples.lognormal()

    def _require_complete(
        self,
        filled: Floats,
        counts: Sequence[int],
        measure: Measure,
        names: tuple[Ruptures, Sites],
    ) -> None:
        """Raise `InputError` for values that are lost, as their rupture would shake sites less.

        Ruptures with fewer variations than others have no values for the last ones at any site.

        Args:
            filled: the values, (ruptures, variations, sites).
            counts: number of simulations of each rupture.
            names: the ruptures and sites.
        """
        lost = ~np.isfinite(filled)
        for n, count in enumerate(counts):
            lost[n, count:] = False
            while self._has_variations and count and lost[n, count - 1].all():
                count -= 1
                lost[n, count] = False
        if not lost.any():
            return
        ruptures, sites = names
        shown = [ruptures.names[n] for n in np.flatnonzero(lost.any(axis=(1, 2))).tolist()]
        places = [sites.names[n] for n in np.flatnonzero(lost.any(axis=(0, 1))).tolist()]
        values = counted(int(lost.sum()), "value")
        raise InputError(
            f"{self._source}: {measure} is not a number (NaN) in {values} of rupture {some(shown)} "
            f"at site {some(places)}; repeat these simulations, or remove them at all sites"
        )

    def _require_near(self, sites: Sites, places: list[int]) -> None:
        """Raise `InputError` if sites of the same names are elsewhere in the dataset."""
        pair = ("longitude", "latitude") if sites.is_geographic else ("x", "y")
        if not all(name in self._data.variables for name in pair):
            return
        own = np.column_stack([np.asarray(self._data[name].values, float) for name in pair])
        found = own[places] if sites.frame is None else plane(sites.frame, own[places])
        apart = np.linalg.norm(found - sites.positions, axis=1)
        if (apart > _SAME_PLACE).any():
            n = int(np.nanargmax(apart))
            raise InputError(
                f"{self._source}: site {sites.names[n]!r} is {apart[n] / 1e3:.3g} km from its "
                "position in [sites]; correct one of them"
            )

    @cached_property
    def _site_names(self) -> list[str]:
        """The names of the sites; rows and columns of a map."""
        return names_of_grid(self._grid) if self._grid else _names(self._data, "site")

    def _rows(self, name: str) -> HostArray:
        """The simulations of a rupture."""
        if name not in self._simulations:
            known = list(self._simulations)
            raise InputError(
                f"{self._source}: has no rupture {name!r}{did_you_mean(name, known)}, whose rate "
                "would be lost; remove it from the table, or simulate it"
            )
        return self._simulations[name]

    def _values(self, measure: Measure) -> xarray.DataArray:
        """The variable of a measure, at its period and for the chosen component."""
        variables = {str(name).lower(): name for name in self._data.data_vars}
        if measure.name not in variables:
            raise InputError(
                f"{self._source}: has no {measure.name}{did_you_mean(measure.name, variables)}; "
                f"it has {listed(variables or ['nothing'])}"
            )
        array = self._data[variables[measure.name]]
        array = self._at_period(array, measure)
        if "component" in array.dims:
            array = self._of_component(array, measure)
        if set(array.dims) != set(self._order):
            raise InputError(
                f"{self._source}: {measure.name} has the dimensions {listed(map(str, array.dims))};"
                f" it needs {listed(self._order)}, and perhaps a period and components"
            )
        return array

    @property
    def _order(self) -> list[str]:
        """The dimensions of values: ruptures or simulations, perhaps variations, and sites."""
        first = str(self._data["rupture"].dims[0])
        return [first, *(["variation"] if self._has_variations else []), "site"]

    @property
    def _has_variations(self) -> bool:
        """Whether values have a dimension of variations besides that of ruptures."""
        return "variation" in self._data.dims and self._data["rupture"].dims != ("variation",)

    def _at_period(self, array: xarray.DataArray, measure: Measure) -> xarray.DataArray:
        if ("period" in array.dims) != (measure.period is not None):
            needs = "a period, as in" if measure.period is None else "no period:"
            example = Measure(measure.name, 1.0 if measure.period is None else None)
            raise InputError(f'{self._source}: {measure.name} needs {needs} "{example}"')
        if measure.period is None:
            return array
        periods = np.asarray(array["period"].values, float)
        nearest = int(np.argmin(np.abs(periods - measure.period)))
        if abs(periods[nearest] - measure.period) > _PERIOD_TOLERANCE * measure.period:
            known = listed(f"{period:g}" for period in periods)
            raise InputError(
                f"{self._source}: {measure.name} has no period {measure.period:g} s; it has {known}"
            )
        return array.isel(period=nearest)

    def _of_component(self, array: xarray.DataArray, measure: Measure) -> xarray.DataArray:
        known = [str(name) for name in np.atleast_1d(array["component"].values)]
        if self._component in COMBINED and set(_HORIZONTAL) <= set(known):
            east, north = (array.isel(component=known.index(name)) for name in _HORIZONTAL)
            if self._component == "larger":
                return east.where(east >= north, north).assign_attrs(array.attrs)
            mean: xarray.DataArray = (east * north) ** 0.5
            return mean.assign_attrs(array.attrs)
        if self._component not in known:
            raise InputError(
                f"{self._source}: {measure.name} has components; give component = "
                f"{listed([*known, *COMBINED])}"
            )
        return array.isel(component=known.index(self._component))

    def _unit(self, array: xarray.DataArray, measure: Measure) -> float:
        """The unit of a variable in SI units, in which it is without an attribute."""
        unit = str(array.attrs.get("units", "")).strip()
        known = _UNITS.get(measure.base, {**_ACCELERATION, **_SPEED})
        if unit and unit not in known:
            raise InputError(
                f"{self._source}: {array.name} has the unit {unit!r}; it must be {listed(known)}"
            )
        return known.get(unit, 1.0)

    def _require_valid(self, values: Floats, measure: Measure) -> None:
        if (values < 0).any() or np.isinf(values).any():
            raise InputError(f"{self._source}: {measure} has values that are negative or infinite")


def _open(path: Path) -> Any:
    if not path.is_dir():
        return open_dataset(path)
    require_zarr()
    import xarray

    with read_errors_reported(path, "Zarr"):
        return xarray.open_zarr(path, decode_times=False)


def _with_ruptures(dataset: xarray.Dataset, name: str, source: object) -> xarray.Dataset:
    """The dataset with the names of ruptures as its coordinate `rupture`."""
    if name not in dataset.variables:
        known = [str(each) for each in dataset.coords]
        raise InputError(
            f"{source}: needs the coordinate {name} with the names of ruptures"
            f"{did_you_mean(name, known)}; it has {listed(known or ['none'])}"
        )
    if name == RUPTURE:
        return dataset
    return dataset.drop_vars(RUPTURE, errors="ignore").assign_coords(
        {RUPTURE: (dataset[name].dims, dataset[name].values)}
    )


def _stacked(dataset: xarray.Dataset) -> xarray.Dataset:
    """The cells of a map as sites, row by row, with their coordinates."""
    return dataset.stack(site=("y", "x"), create_index=False)


def _names(dataset: xarray.Dataset, dim: str) -> list[str]:
    """The names along a dimension, or its numbers."""
    coordinate = next((name for name in (dim, "code") if name in dataset.variables), None)
    if coordinate is None or dataset[coordinate].dims != (dim,):
        return [str(n) for n in range(dataset.sizes[dim])]
    return [_text(value) for value in dataset[coordinate].values]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _simulations(dataset: xarray.Dataset, source: object) -> dict[str, HostArray]:
    """The numbers of the simulations of each rupture, in the order of the values."""
    coordinate = dataset["rupture"]
    if len(coordinate.dims) != 1:
        raise InputError(f"{source}: rupture must name the rupture along one dimension")
    (dim,) = coordinate.dims
    names = np.array([_text(value) for value in coordinate.values])
    variations = dataset.sizes.get("variation", 1)
    if variations > 1 and dim == "variation":
        variations = 1
    numbers = np.arange(len(names) * variations).reshape(len(names), variations)
    return {str(name): numbers[names == name].ravel() for name in dict.fromkeys(names.tolist())}


def _positions(known: list[str], wanted: Any, what: str) -> list[int]:
    """The indices of the wanted names among the known ones."""
    at: Mapping[str, int] = {name: n for n, name in enumerate(known)}
    if missing := [name for name in wanted if name not in at]:
        raise InputError(f"{what} lack {some(missing)}; remove them, or simulate them")
    return [at[name] for name in wanted]
