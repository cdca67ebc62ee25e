"""Media of ultrasound cases in NetCDF and HDF5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from ultrasound_media import (
    AXES,
    LAYERS,
    REGION,
    WATER,
    H,
    assert_matches,
    build,
    interpolated,
    model,
    properties_file,
    refusal,
    save,
)

from groundswell.errors import CaseError
from groundswell.solvers.ultrasound.media import MediumSection, build_medium
from groundswell.solvers.ultrasound.media.files import locate, unit_factor
from groundswell.solvers.ultrasound.media.formats import open_grid_file
from groundswell.solvers.ultrasound.media.stored_array import StoredDataset


@pytest.mark.parametrize("dims", ["xyz", "zyx", "yzx"])
def test_files_are_interpolated_linearly(tmp_path: Path, dims: str) -> None:
    data = model()
    path = save(tmp_path, data.transpose(*dims).isel(y=slice(None, None, -1)))
    medium = build(speed=None, density=None, file=properties_file(path), power=1.2)
    assert_matches(medium, data)
    assert medium.nonlinearity == 0.0


def test_units_names_and_the_classic_format_are_read(tmp_path: Path) -> None:
    data = model()
    other = data.assign(speed=data.speed / 1000, density=data.density / 1000)
    other = other.assign_coords({axis: data[axis] * 1000 for axis in "xyz"})
    other = other.rename(speed="c", density="rho")
    units = {"x": "mm", "y": "mm", "z": "mm", "c": "km s-1", "rho": "g cm-3"}
    for name, unit in {**units, "absorption": "dB/(MHz^y cm)"}.items():
        other[name].attrs["units"] = unit
    path = save(tmp_path, other, engine="scipy")
    file = properties_file(path, variables={"speed": "c", "density": "rho"})
    assert_matches(build(speed=None, density=None, file=file), data)


@pytest.mark.parametrize("text", ["mm", b"mm"])
def test_plain_hdf5_files_are_read(tmp_path: Path, text: Any) -> None:
    data, path = model(), tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        for axis in "xyz":
            file[axis] = data[axis].values * 1000
            file[axis].attrs["units"] = text
        for name in ("speed", "density", "absorption"):
            file[name] = data[name].values
        file["comment"] = "not a grid"
    assert_matches(build(speed=None, density=None, file=properties_file(path)), data)


def test_parts_of_plain_hdf5_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody asks for stays in the file, also if an axis is reversed."""
    values, read = np.random.default_rng(3).standard_normal((6, 5, 4)), list[int]()
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["c"] = values
        for axis, count in zip("zyx", values.shape, strict=True):
            file[axis] = np.arange(count)

    def counting(array: StoredDataset, key: Any, whole: Any = StoredDataset._read) -> Any:
        found = whole(array, key)
        read.append(found.size)
        return found

    monkeypatch.setattr(StoredDataset, "_read", counting)
    data = open_grid_file(tmp_path / "model.h5", ["c"])["c"]
    assert not read
    part = data.isel(z=slice(2, 4), y=slice(None, None, -1)).isel(x=[0, 3])
    assert (part.values == values[2:4, ::-1][:, :, [0, 3]]).all() and sum(read) == 2 * 5 * 2
    assert (data.values == values).all()


def test_netcdf_files_may_end_in_h5(tmp_path: Path) -> None:
    data = model()
    assert_matches(build(file=properties_file(save(tmp_path, data, "model.h5"))), data)


def test_properties_that_a_file_lacks_keep_their_values(tmp_path: Path) -> None:
    path = save(tmp_path, model()[["speed"]])
    medium = build(speed=None, density=1020.0, file=properties_file(path))
    assert medium.density == 1020.0 and medium.absorption == 0.0


def test_shapes_lie_over_files(tmp_path: Path) -> None:
    data = model()
    shape = {"kind": "layer", "axis": "x", "to": 0.5 * H, "speed": 1480.0}
    medium = build(file=properties_file(save(tmp_path, data)), shape=[shape])
    expected = interpolated(data, "speed")
    expected[:, :, : LAYERS + 1] = 1480
    assert_allclose(medium.speed, expected, rtol=1e-12)


def test_axes_and_offset_place_a_file(tmp_path: Path) -> None:
    data = model()
    offset = (0.1, -0.2, 0.3)
    # The file's z points along x of the case, its x along y, and its y against z.
    placed = xr.Dataset(
        {
            name: (
                ("x", "y", "z"),
                data[name].transpose("z", "y", "x").values[::-1].transpose(1, 0, 2),
            )
            for name in data.data_vars
        },
        {
            "x": data.y.values - offset[1],
            "y": -(data.z.values[::-1] - offset[2]),
            "z": data.x.values - offset[0],
        },
    )
    file = properties_file(save(tmp_path, placed), axes=["z", "x", "-y"], offset=offset)
    assert_matches(build(file=file), data)


def test_files_without_z_fit_a_grid_with_one_plane(tmp_path: Path) -> None:
    data = model().isel(z=0, drop=True)
    section = MediumSection(file=properties_file(save(tmp_path, data)))
    medium = build_medium(section, (*AXES[:2], [0.0]), REGION, "float64")
    both = xr.concat([data, data], xr.DataArray([-1.0, 1.0], dims="z", name="z"))
    assert_allclose(medium.speed, interpolated(both, "speed")[:1], rtol=1e-12)


def test_integers_are_read_as_numbers(tmp_path: Path) -> None:
    data = model().astype("int16")
    medium = build(file=properties_file(save(tmp_path, data)))
    assert_allclose(medium.speed, interpolated(data.astype(float), "speed"), rtol=1e-6)


def damaged_models() -> dict[str, tuple[xr.Dataset, str]]:
    data = model()
    gap = data.copy(deep=True)
    gap.speed[3, 2, 4] = np.nan
    negative = data.copy(deep=True)
    negative["density"] = -negative.density
    foreign, power = data.copy(), data.copy()
    foreign["speed"] = data.speed.assign_attrs(units="kg")
    power["absorption"] = data.absorption.assign_attrs(units="Np/m")
    unsorted = data.assign_coords(x=np.roll(data.x.values, 1))
    return {
        "gap": (gap, "variable speed has gaps"),
        "negative": (negative, "variable density has values from -"),
        "unit": (foreign, 'the unit "kg" does not convert to m/s'),
        "unit of absorption": (power, 'the unit "Np/m" does not convert to dB/(MHz^y cm)'),
        "order": (unsorted, "coordinate x must have two or more values in order"),
        "extent": (data.isel(y=slice(2, None)), "covers y from"),
        "dimensions": (data.isel(z=0, drop=True), "no one-dimensional coordinate z"),
        "one dimension less": (
            data.assign(speed=data.speed[0]),
            "variable speed has the dimensions",
        ),
        "no coordinate": (data.drop_vars("x"), "no one-dimensional coordinate x"),
        "no variable": (
            data.rename(speed="c", density="r", absorption="a"),
            "has no variable speed",
        ),
        "text": (data.assign(speed=data.speed.astype(str)), "must have numbers"),
    }


DAMAGED = damaged_models()


@pytest.mark.parametrize("name", DAMAGED)
def test_bad_files_are_refused(tmp_path: Path, name: str) -> None:
    data, text = DAMAGED[name]
    message = refusal(file=properties_file(save(tmp_path, data, engine="scipy")))
    assert text in message and "model.nc" in message and "\n" not in message


def test_missing_variables_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path, model()[["speed"]])
    assert "has no variable density" in refusal(density=None, file=properties_file(path))
    file = properties_file(path, variables={"density": "rho"})
    assert "has no variable rho; it has speed" in refusal(file=file)


@pytest.mark.parametrize("suffix", [".nc", ".h5"])
@pytest.mark.parametrize("part", [0, 3, 200, 0.5, 0.95])
def test_truncated_files_are_refused(tmp_path: Path, suffix: str, part: float) -> None:
    path = save(tmp_path, model(), f"model{suffix}")
    data = path.read_bytes()
    path.write_bytes(data[: int(part if part >= 1 else part * len(data))])
    assert "cannot be read" in refusal(file=properties_file(path))


def test_plain_hdf5_files_of_another_order_are_refused(tmp_path: Path) -> None:
    data, path = model(), tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        for axis in "xyz":
            file[axis] = data[axis].values
        file["speed"] = data.speed.values.transpose()
    text = refusal(file=properties_file(path))
    assert "variable speed has the shape" in text and "store arrays with the axes (z, y, x)" in text


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"quantity": "properties", "file": "model.csv"}, "must end in .nc, .h5"),
        ({"quantity": "properties", "file": "ct.nii.gz"}, '"hounsfield" or "labels"'),
        ({"quantity": "properties", "file": "no.nc"}, "does not exist"),
        ({"quantity": "labels", "file": "ct.nii.gz", "material": []}, "must not be empty"),
        ({"quantity": "hounsfield", "file": "ct.nii.gz"}, "is required"),
        ({"quantity": "porosity", "file": "ct.nii.gz"}, "must be properties, hounsfield or labels"),
        (
            {"quantity": "properties", "file": "model.nc", "axes": ["x", "y", "-y"]},
            "must name each of x, y and z once",
        ),
        (
            {"quantity": "labels", "file": "ct.nii.gz", "material": [{"label": 1, "speed": 1}] * 2},
            "already has a material",
        ),
        (
            {"quantity": "hounsfield", "file": "ct.nii.gz", "skull": {"absorption": [1, 2]}},
            "is required (CT number of bone without pores); give the CT number",
        ),
        (
            {
                "quantity": "hounsfield",
                "file": "ct.nii.gz",
                "skull": {"bone_hounsfield": 2000, "absorption": [2, 1]},
            },
            "the smallest and the largest absorption",
        ),
        (
            {
                "quantity": "hounsfield",
                "file": "ct.nii.gz",
                "skull": {"bone_hounsfield": 1800, "absorption": [1, 2], "threshold": 2000},
            },
            "must be less than bone_hounsfield, 1800",
        ),
    ],
)
def test_invalid_keys_of_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model.csv", "model.nc", "ct.nii.gz"):
        (tmp_path / name).touch()
    with pytest.raises(CaseError) as caught:
        MediumSection(**WATER, file=keys)
    assert text in str(caught.value)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=8, unique=True),
    st.lists(st.floats(-50, 1050), min_size=1),
)
def test_positions_on_an_axis_interpolate_as_numpy_does(
    samples: list[int], at: list[float]
) -> None:
    nodes = np.sort(np.array(samples, float))
    values = np.sin(nodes)
    found = locate(nodes, np.array(at))
    assert_allclose(
        found.interpolate(values[found.window], 0), np.interp(at, nodes, values), atol=1e-12
    )
    distance = np.abs(np.clip(at, nodes[0], nodes[-1])[:, None] - nodes)
    chosen = found.nearest().interpolate(nodes[found.window], 0)
    assert_allclose(
        np.abs(np.clip(at, nodes[0], nodes[-1]) - chosen), distance.min(axis=1), atol=1e-9
    )


@pytest.mark.parametrize(
    ("given_unit", "unit", "factor"),
    [
        ("", "m", 1.0),
        ("km/s", "m/s", 1000.0),
        ("m s-1", "m/s", 1.0),
        ("m s^-1", "m/s", 1.0),
        ("g/cm3", "kg/m^3", 1000.0),
        ("kg m-3", "kg/m^3", 1.0),
        ("dB/cm/MHz", "dB/(MHz^y cm)", 1.0),
        ("1", "", 1.0),
    ],
)
def test_units_convert(given_unit: str, unit: str, factor: float) -> None:
    assert unit_factor(given_unit, unit, "file") == pytest.approx(factor, rel=1e-14)
