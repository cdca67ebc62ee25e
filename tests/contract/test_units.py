"""Every variable and coordinate of the datasets that results give has units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import xarray
from small_cases import CASES
from ultrasound_cases import changed

import groundswell as gs
from groundswell import registry
from groundswell.errors import InputError

Results = Callable[[str], dict[str, xarray.Dataset]]
PULSE = {"kind": "gaussian", "sigma": 0.08}
SEISMIC: dict[str, Any] = {
    "time": {"duration": 0.3, "step": 0.003},
    "medium": {"kind": "homogeneous", "vp": 4000, "vs": 2300, "rho": 2600},
    "source": [
        {
            **{"kind": "double-couple", "strike": 20, "dip": 60, "rake": 70, "magnitude": 3},
            **{"x": 630.0, "y": 580.0, "depth": 410.0, "time_function": PULSE},
        }
    ],
    "receiver": [{"name": "A", "x": 320, "y": 710}, {"name": "B", "x": 900, "y": 500}],
}
GRIDS: dict[str, Any] = {
    "earthquake": {"grid": {"size": [1200.0] * 3, "spacing": 100.0}, "boundary": {"width": 4}},
    "dgwave": {
        "grid": {"size": [1200.0] * 3, "spacing": 300.0},
        "boundary": {"width": 2},
        "method": {"degree": 2},
    },
}
LINE = {"kind": "line", "start": [0, 0, 300], "end": [1000, 0, 300], "points": 3}
WAVES: dict[str, Any] = {
    "seismograms": {"interval": 0.006},
    "surface": {"interval": 0.03},
    "shaking_map": True,
    "intensity": {"periods": [0.2], "maps": ["psa", "cav"]},
    "record": [{"fields": ["vx"], "where": LINE, "what": ["raw", "max"], "file": "line.nc"}],
}
MORE: dict[str, Any] = {
    "earthquake": {"volumes": {"interval": 0.1, "fields": ["vx", "szz"]}},
    "dgwave": {"final_fields": True},
}
BOX: dict[str, Any] = {"mesh": {"kind": "box", "counts": [3, 2, 2]}, "method": {"degree": 3}}
SIDES = {"west": {"kind": "fixed", "value": 0.0}, "east": {"kind": "flux", "value": 1.0}}
SLAB = {"kind": "layer", "axis": "x", "from": "5 mm", "to": "6 mm", "speed": 2400.0}
POINT = {
    "fields": ["p", "ux"],
    "where": {"kind": "points", "positions": [["9 mm", "5 mm", 0]]},
    "what": ["raw", "amplitude", "phase"],
    "frequencies": ["1 MHz"],
    "file": "point.nc",
}
OTHERS: dict[str, dict[str, Any]] = {
    "cavity": CASES["cavity"] | {"output": {"fields": True}},
    "cavity in time": {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e3},
        "grid": {"points": [9, 1, 9]},
        "walls": {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}},
        "time": {"duration": 0.1, "step": 0.05},
    },
    "cavity with properties": {
        "fluid": {"kind": "properties", "viscosity": 1e-5, "diffusivity": 1e-5, "expansion": 1e-3},
        "grid": {"points": [9, 1, 9], "size": [0.02, 0.02, 0.02]},
        "walls": {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}},
    },
    "poisson": BOX | {"boundaries": SIDES, "output": {"unit": "degC"}},
    "poisson in time": BOX | {"boundaries": SIDES, "time": {"duration": 0.2, "step": 0.1}},
    "ultrasound": changed(medium__shape=[SLAB], output={"record": [POINT]}),
}


def content_of(name: str) -> dict[str, Any]:
    """The case with this name, with many outputs."""
    if name not in GRIDS:
        return OTHERS[name]
    return SEISMIC | GRIDS[name] | {"output": WAVES | MORE[name]}


def datasets(name: str, value: object) -> Iterator[tuple[str, xarray.Dataset]]:
    """Datasets in what a reader returns, with names."""
    if isinstance(value, xarray.DataArray):
        yield name, value.to_dataset(name=value.name or name)
    elif isinstance(value, xarray.Dataset):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from datasets(f"{name}[{key}]", inner)


def of_result(result: gs.Result) -> dict[str, xarray.Dataset]:
    """All datasets of a result by name; those that the run has not written are left out."""
    found = {}
    for reader in registry.find(result.summary["solver"]).results:
        try:
            found.update(datasets(reader, getattr(result, reader)))
        except InputError as error:
            assert "run the case with" in str(error) or "has no" in str(error), error
    return found


def without_units(dataset: xarray.Dataset) -> list[str]:
    """Names of variables of numbers that have no units; times that xarray decodes have none."""
    numbers = {name: each for name, each in dataset.variables.items() if each.dtype.kind in "iuf"}
    return [str(name) for name, each in numbers.items() if not each.attrs.get("units")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A function that gives all datasets of a case by its name, and runs it once."""

    @cache
    def run(name: str) -> dict[str, xarray.Dataset]:
        case = registry.find(name.split()[0]).load("case").from_dict(content_of(name))
        return of_result(gs.run(case, folder=tmp_path_factory.mktemp("run")))

    return run


@pytest.mark.parametrize("name", [*GRIDS, *OTHERS])
def test_datasets_have_units(name: str, results: Results) -> None:
    found = results(name)
    assert found
    bare = {key: without_units(dataset) for key, dataset in found.items()}
    assert {key: names for key, names in bare.items() if names} == {}


@pytest.mark.parametrize(
    ("name", "reader", "variable", "units"),
    [
        ("cavity", "fields", "T", "1"),  # dimensionless
        ("cavity with properties", "fields", "T", "K"),
        ("cavity with properties", "profiles[z]", "u", "m s-1"),
        ("dgwave", "fields", "szz", "Pa"),
        ("poisson", "fields", "u", "degC"),
        ("poisson", "fields", "x", "m"),
    ],
)
def test_units_are_those_of_the_values(
    name: str, reader: str, variable: str, units: str, results: Results
) -> None:
    assert results(name)[reader][variable].attrs["units"] == units
