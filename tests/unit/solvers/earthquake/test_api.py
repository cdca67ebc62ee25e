"""Earthquakes from arrays: the same as from a case file, in any layout, with clean leftovers."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare

rng = np.random.default_rng(11)
SHAPE = (6, 9, 7)  # nz, ny, nx


def properties(shape: tuple[int, int, int] = SHAPE) -> dict[str, np.ndarray]:
    vs = rng.uniform(1500, 2500, shape)
    return {
        "vp": 1.8 * vs,
        "vs": vs,
        "rho": rng.uniform(2000, 2800, shape),
        "qp": rng.uniform(90, 200, shape),
        "qs": rng.uniform(50, 80, shape),
    }


def dataset(**changes: Any) -> xarray.Dataset:
    """A model in kilometres, its axes in another order."""
    nz, ny, nx = SHAPE
    coordinates = {
        "z": ("z", (np.arange(nz) + 0.5) * 0.1, {"units": "km"}),
        "y": ("y", (np.arange(ny) + 0.5) * 0.2, {"units": "km"}),
        "x": ("x", (np.arange(nx) + 0.5) * 150.0, {"units": "m"}),
    }
    speeds = {"vp": "km/s", "vs": "km/s"}
    variables = {
        name: (
            ("x", "z", "y"),
            values.transpose(2, 0, 1) / (1000 if name in speeds else 1),
            {"units": speeds[name]} if name in speeds else {},
        )
        for name, values in properties().items()
    }
    return xarray.Dataset(variables | changes.pop("variables", {}), coordinates | changes)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that no other test uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


# --- the model -----------------------------------------------------------------------------------


def test_numbers_hold_everywhere_in_a_model() -> None:
    vs = rng.uniform(1500, 2500, SHAPE)
    model = gs.earthquake.Model(4000.0, vs, rho=2500, spacing=(10, 20, 30))
    assert model.size == (70.0, 180.0, 180.0)
    assert {name: values.shape for name, values in model.properties.items()} == dict.fromkeys(
        ("vp", "vs", "rho"), SHAPE
    )
    assert (model.properties["vp"] == 4000).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rho": np.ones((6, 9, 8))}, r"one shape .*; found vp \(6, 9, 7\).* rho \(6, 9, 8\)"),
        ({"vs": 1.0, "vp": 2.0, "rho": 3.0, "qp": 1.0, "qs": 1.0}, r"one shape \(nz, ny, nx\)"),
        ({"qs": None}, "needs both qp and qs, or neither"),
        ({"spacing": 0.0}, "spacing = 0.0: give the cells' edge"),
        ({"spacing": (1.0, 2.0)}, "give the cells' edge"),
        ({"spacing": "thick"}, "spacing = 'thick'"),
    ],
)
def test_models_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gs.earthquake.Model(**({"spacing": 100.0} | properties() | changes))


def test_a_dataset_is_read_by_its_names_and_units() -> None:
    source = dataset()
    model = gs.earthquake.Model.from_xarray(source)
    assert model.spacings == pytest.approx((150.0, 200.0, 100.0))
    assert model.size == pytest.approx((7 * 150.0, 9 * 200.0, 6 * 100.0))
    for name in ("vp", "vs", "rho", "qp", "qs"):
        factor = 1000 if name in ("vp", "vs") else 1
        expected = source[name].transpose("z", "y", "x").values * factor
        np.testing.assert_allclose(model.properties[name], expected)


def without(*names: str) -> xarray.Dataset:
    return dataset().drop_vars(names)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (without("rho", "vs"), "the dataset lacks vs, rho; it has"),
        (without("qp"), "needs both qp and qs"),
        (without("z"), "no dimension depth or z with coordinates; its dimensions are"),
        (dataset(x=np.arange(7) * 100.0), "half a cell from the edge, at 50 m; found 0 m"),
        (dataset(y=np.arange(9)[::-1] * 100.0), "y must increase in even steps"),
        (dataset(y=np.array([*range(8), 9]) * 100.0), "y must increase in even steps"),
        (dataset().isel(z=[0]), "z has 1 coordinates; a model needs 2 cells"),
        (dataset(variables={"rho": ("x", np.ones(7))}), "rho has the dimensions x; .* z, y, x"),
        (dataset(z=("z", dataset()["z"].values, {"units": "kg"})), "z: unit 'kg' does not convert"),
    ],
)
def test_datasets_that_do_not_say_enough_are_refused(source: xarray.Dataset, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gs.earthquake.Model.from_xarray(source)


# --- runs ----------------------------------------------------------------------------------------


def model_of(content: dict[str, Any]) -> Any:
    """The tiny case's homogeneous ground as arrays."""
    ground = {"vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100.0, "qs": 50.0}
    return gs.earthquake.Model(**ground | {"vp": np.full((24, 24, 24), 4000.0)}, spacing=100.0)


def simulate(content: dict[str, Any], **changes: Any) -> Any:
    names = ("attenuation", "boundary", "output", "title")
    arguments = {
        "duration": "1 s",
        "step": "10 ms",
        **{name: content[name] for name in names},
        **changes,
    }
    return gs.earthquake.simulate(
        model_of(content), content["source"], content["receiver"], **arguments
    )


def test_arrays_and_a_case_file_give_the_same(tiny: Callable[..., Any], tmp_path: Path) -> None:
    content = tiny()
    expected = gs.run(EarthquakeCase.from_dict(content), folder=tmp_path / "case")
    found = simulate(content, folder=tmp_path / "arrays")
    assert found.folder == tmp_path / "arrays"
    largest = float(np.abs(expected.seismograms).max())
    assert largest > 0
    np.testing.assert_allclose(
        found.seismograms.values, expected.seismograms.values, rtol=0, atol=1e-6 * largest
    )
    np.testing.assert_allclose(found.shaking_map["pgv"], expected.shaking_map["pgv"], rtol=1e-5)
    assert [trace.id for trace in found.stream] == [trace.id for trace in expected.stream]
    assert found.summary["title"] == "tiny"


def test_a_temporary_folder_lives_as_long_as_its_result(
    tiny: Callable[..., Any], scratch: Path
) -> None:
    result = simulate(tiny(), precision="double")
    (folder,) = scratch.glob("groundswell-*")
    assert result.folder == folder and (folder / "seismograms.h5").is_file()
    assert result.seismograms.dtype == np.float64
    series = result.seismograms
    del result
    gc.collect()
    assert not folder.exists()
    assert np.abs(series).max() > 0  # arrays stay


def test_nothing_is_left_of_what_is_refused(tiny: Callable[..., Any], scratch: Path) -> None:
    content = tiny()
    with pytest.raises(InputError, match=r"time\.step = 1 s is unstable"):
        simulate(content, step="1 s")
    content["source"] = [content["source"][0] | {"x": "90 km"}]
    with pytest.raises(CaseError, match=r"source\[0\].x = .*lies outside the region"):
        simulate(content)
    with pytest.raises(CaseError, match="topography"):
        simulate(tiny(), topography={})
    assert not list(scratch.glob("groundswell-*"))


def test_q_without_a_word_on_attenuation_is_refused(tiny: Callable[..., Any]) -> None:
    with pytest.raises(CaseError, match=r"attenuation\.model: is required"):
        simulate(tiny(), attenuation=None)


def test_a_model_on_earth_takes_longitude_and_latitude(tiny: Callable[..., Any]) -> None:
    values = model_of({}).properties
    model = gs.earthquake.Model(**values, spacing=100.0, geography={"center": [12.3, 45.6]})
    source = tiny()["source"][0] | {"longitude": 12.3, "latitude": 45.6}
    places = {name: value for name, value in source.items() if name not in ("x", "y")}
    attenuation = {"model": "constant"}
    case = gs.earthquake.build_case(model, [places], duration=1.0, attenuation=attenuation)
    assert gs.check(case)["cells"] == (44, 44, 34)
    (found,) = prepare(case).survey.sources
    assert found.position == pytest.approx((1200.0, 1200.0, 810.0), abs=1e-3)


def test_receivers_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stations.csv").write_text("network,station,x,y,depth\nXX,TOP,500,600,0\n")
    monkeypatch.chdir(tmp_path)
    model = gs.earthquake.Model(np.full((8, 9, 10), 3e3), 1700.0, 2500.0, spacing=100.0)
    force = {"kind": "force", "x": 500, "y": 500, "depth": 300, "force": [0, 0, 1e9]}
    pulse = {"kind": "cosine", "rise": 0.3}
    result = gs.earthquake.simulate(
        model, [{**force, "time_function": pulse}], "stations.csv", duration=0.1
    )
    assert [*result.seismograms["station"].values] == ["XX.TOP"]
