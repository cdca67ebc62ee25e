"""Media of ultrasound cases: sections, shapes, arrays, files, skull bone, refusals."""

from __future__ import annotations

import sys
import tomllib
from math import dist, inf, log, pi, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError
from groundswell.solvers.ultrasound.media import MediumSection, build_medium
from groundswell.solvers.ultrasound.media.files import locate, unit_factor
from groundswell.solvers.ultrasound.media.shapes import Box, Cylinder, Sphere, layer, window_of
from groundswell.solvers.ultrasound.media.skull import bone_properties
from groundswell.solvers.ultrasound.medium import AcousticMedium

H = 1e-3
LAYERS = 2  # points of the absorbing layers
CELLS = (7, 6, 5)
REGION = ((0.0, 0.0, 0.0), tuple((n - 1) * H for n in CELLS))
AXES = tuple(np.arange(-LAYERS, n + LAYERS) * H for n in CELLS)
SHAPE = tuple(len(at) for at in reversed(AXES))
WATER: dict[str, Any] = {"speed": 1500.0, "density": 1000.0}


def build(dtype: str = "float64", **keys: Any) -> AcousticMedium:
    return build_medium(MediumSection(**{**WATER, **keys}), AXES, REGION, dtype)


def inside(array: NDArray[Any]) -> NDArray[Any]:
    return array[LAYERS:-LAYERS, LAYERS:-LAYERS, LAYERS:-LAYERS]


def refusal(**keys: Any) -> str:
    with pytest.raises(InputError) as caught:
        build(**keys)
    return str(caught.value)


# --- sections -------------------------------------------------------------------------------------

TOML = """
speed = "1.5 km/s"
density = "1 g/cm^3"
absorption = 0.0022
nonlinearity = 5.0

[[shape]]
kind = "layer"
axis = "z"
from = "1 mm"
to = "3 mm"
speed = "2800 m/s"

[[shape]]
kind = "sphere"
centre = ["3 mm", "2 mm", "2 mm"]
radius = "1 mm"
density = "1850 kg/m^3"
"""


def test_a_section_is_read_with_units_and_built() -> None:
    section = MediumSection.model_validate(tomllib.loads(TOML))
    medium = build_medium(section, AXES, REGION)
    _, _, z = AXES
    bone = (z > 0.5 * H) & (z < 2.5 * H)
    assert_array_equal(
        medium.speed, np.broadcast_to(np.where(bone, 2800, 1500)[:, None, None], SHAPE)
    )
    assert np.count_nonzero(medium.density == 1850) == 7
    assert medium.nonlinearity == 5.0 and medium.power == 2.0
    assert_allclose(medium.absorption, 0.22 / (20 / log(10)) / (2e6 * pi) ** 2, rtol=1e-14)
    assert isinstance(medium.absorption, float)
    assert isinstance(medium.speed, np.ndarray) and medium.speed.dtype == np.float32


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ({"speed": None}, "speed", "is required; give a speed"),
        ({"density": "-1 kg/m^3"}, "density", "greater than 0"),
        ({"absorption": -0.1}, "absorption", "at least 0"),
        ({"power": 3.5}, "power", "at most 3"),
        ({"power": 1, "absorption": 0.5}, "power", "infinite dispersion"),
        ({"power": 3, "absorption": 0.5}, "power", "infinite dispersion"),
        ({"effects": ["dispersions"]}, "effects[0]", 'did you mean "dispersion"?'),
        ({"effects": ["absorption"] * 2}, "effects[1]", "in the list already"),
        ({"shape": [{"kind": "box", "speed": 1}]}, "shape[0].low", "is required"),
        (
            {"shape": [{"kind": "layer", "axis": "z", "from": 1.0, "to": 0.5, "speed": 1}]},
            "shape[0].to",
            "must be greater than from, 1 m",
        ),
        ({"shape": [{"kind": "layer", "axis": "z"}]}, "shape[0]", "give speed, density"),
        (
            {"shape": [{"kind": "sphere", "centre": [0], "radius": 1, "speed": 1}]},
            "shape[0].centre",
            "two or three lengths",
        ),
        (
            {"shape": [{"kind": "sphere", "centre": [0, 0], "radius": 1, "inner": 2, "speed": 1}]},
            "shape[0].inner",
            "less than the radius, 1 m",
        ),
        (
            {"shape": [{"kind": "box", "low": [0, 0], "high": [1, 0], "speed": 1}]},
            "shape[0].high[1]",
            "greater than low[1], 0 m",
        ),
        (
            {"shape": [{"kind": "box", "low": [0, 0], "high": [1, 1, 1], "speed": 1}]},
            "shape[0].high",
            "must have 2 entries",
        ),
        (
            {
                "shape": [
                    {"kind": "cylinder", "start": [0, 0], "end": [0, 0], "radius": 1, "speed": 1}
                ]
            },
            "shape[0].end",
            "must differ from start",
        ),
        ({"speed": np.ones(3)}, "speed", "an array (nz, ny, nx) or (ny, nx)"),
        ({"speed": np.ones((2, 3)), "density": np.ones((3, 2))}, "density", "but speed (2, 3)"),
    ],
)
def test_invalid_keys_are_refused(keys: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(CaseError) as caught:
        MediumSection(**{**WATER, **keys})
    assert any(p.key == key and text in p.allowed for p in caught.value.problems), caught.value


def test_power_1_is_for_absorption_without_dispersion() -> None:
    medium = build(power=1.0, absorption=0.5, effects=["absorption"])
    assert medium.absorbs and not medium.disperses
    assert build(power=1.0).is_dispersive is False


@pytest.mark.parametrize("effects", [[], ["absorption"], ["dispersion"]])
def test_effects_act_alone(effects: list[str]) -> None:
    medium = build(power=1.5, absorption=0.5, effects=effects)
    assert medium.is_absorbing == ("absorption" in effects)
    assert medium.is_dispersive == ("dispersion" in effects)


class UltrasoundCase(Case):
    """A case with a medium only."""

    medium: MediumSection


def test_a_case_finds_files_and_has_a_digest_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "ct.nii").touch()
    file = {"quantity": "labels", "file": "ct.nii", "material": [{"label": 1, "speed": "2 km/s"}]}

    def case(speed: Any) -> UltrasoundCase:
        content = {"solver": "ultrasound", "medium": {**WATER, "speed": speed, "file": file}}
        return UltrasoundCase.from_dict(content, tmp_path)

    assert case(1500.0).data_files() == [tmp_path / "ct.nii"]
    digests = {case(speed).digest() for speed in (1500.0, random_values(), random_values(seed=9))}
    assert len(digests) == 3 and case(random_values()).digest() in digests


# --- shapes ---------------------------------------------------------------------------------------

COUNTS = st.integers(-3, 9)
LENGTHS = st.integers(-30, 90).map(lambda n: n * 1e-4)  # many of them at grid points
POINTS = st.tuples(LENGTHS, LENGTHS, LENGTHS)
RADII = st.integers(1, 60).map(lambda n: n * 1e-4)
TINY = 1e-12


def mask_of(shape: Any) -> NDArray[np.bool_]:
    """The points that a medium takes as inside."""
    mask = np.zeros(SHAPE, bool)
    window = window_of(shape, AXES)
    z, y, x = (at[part] for at, part in zip(AXES[::-1], window, strict=True))
    mask[window] = shape.contains(x[None, None, :], y[None, :, None], z[:, None, None])
    return mask


def assert_mask(shape: Any, predicate: Any) -> None:
    x, y, z = AXES
    expected = [[[predicate((a, b, c)) for a in x] for b in y] for c in z]
    assert_array_equal(mask_of(shape), np.array(expected))


@settings(max_examples=25, deadline=None)
@given(POINTS, POINTS)
def test_boxes_contain_the_points_between_their_corners(low: Any, high: Any) -> None:
    corners = list(zip(low, high, strict=True))
    assert_mask(
        Box(low, high),
        lambda at: all(a - TINY <= p < b - TINY for p, (a, b) in zip(at, corners, strict=True)),
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2), st.none() | LENGTHS, st.none() | LENGTHS)
def test_layers_contain_the_points_between_two_planes(axis: int, low: Any, high: Any) -> None:
    least, most = -inf if low is None else low, inf if high is None else high
    assert_mask(layer(axis, low, high), lambda at: least - TINY <= at[axis] < most - TINY)


@settings(max_examples=25, deadline=None)
@given(POINTS, RADII, st.none() | st.floats(0.05, 0.95))
def test_spheres_contain_the_points_near_their_centre(c: Any, radius: float, part: Any) -> None:
    inner = None if part is None else part * radius
    least = -inf if inner is None else inner
    assert_mask(Sphere(c, radius, inner), lambda at: least + TINY < dist(at, c) <= radius + TINY)


@settings(max_examples=25, deadline=None)
@given(POINTS, POINTS, RADII)
def test_cylinders_contain_the_points_near_their_axis(start: Any, end: Any, radius: float) -> None:
    if start == end:
        return
    length = dist(start, end)

    def contains(at: Any) -> bool:
        along = sum((p - a) * (b - a) for p, a, b in zip(at, start, end, strict=True)) / length
        across = sqrt(max(dist(at, start) ** 2 - along**2, 0))
        if min(abs(across - radius), abs(along), abs(along - length)) < 1e-9:
            return bool(Cylinder(start, end, radius).contains(*at))  # undecided by rounding
        return 0 < along < length and across < radius

    assert_mask(Cylinder(start, end, radius), contains)


@settings(max_examples=20, deadline=None)
@given(LENGTHS, RADII, RADII)
def test_layers_that_touch_share_no_point_and_leave_none_out(
    low: float, a: float, b: float
) -> None:
    first, second = layer(2, low, low + a), layer(2, low + a, low + a + b)
    both = layer(2, low, low + a + b)
    assert not (mask_of(first) & mask_of(second)).any()
    assert_array_equal(mask_of(first) | mask_of(second), mask_of(both))


def test_a_shell_and_its_hollow_make_a_ball() -> None:
    centre = (3 * H, 3 * H, 2 * H)
    ball, shell, hollow = Sphere(centre, 3 * H), Sphere(centre, 3 * H, 2 * H), Sphere(centre, 2 * H)
    assert not (mask_of(shell) & mask_of(hollow)).any()
    assert_array_equal(mask_of(shell) | mask_of(hollow), mask_of(ball))


@pytest.mark.parametrize(
    "shape",
    [Sphere((2 * H, 3 * H), 2 * H), Box((0.0, H), (H, 4 * H)), Cylinder((0, 0), (5 * H, 0), H)],
)
def test_shapes_of_two_coordinates_do_not_depend_on_z(shape: Any) -> None:
    mask = mask_of(shape)
    assert mask.any() and (mask == mask[0]).all()


def test_later_shapes_replace_earlier_ones_and_keep_what_they_do_not_give() -> None:
    shapes: list[dict[str, Any]] = [
        {"kind": "layer", "axis": "z", "from": 2 * H, "speed": 2800.0, "density": 1850.0},
        {"kind": "layer", "axis": "z", "from": 4 * H, "speed": 2300.0},
    ]
    medium = build(shape=shapes)
    assert isinstance(medium.speed, np.ndarray) and isinstance(medium.density, np.ndarray)
    assert_array_equal(medium.speed[:, 0, 0], [1500] * 4 + [2800] * 2 + [2300] * 3)
    assert_array_equal(medium.density[:, 0, 0], [1000] * 4 + [1850] * 5)


def test_properties_that_do_not_vary_stay_numbers() -> None:
    everywhere = {"kind": "layer", "axis": "x", "speed": 1600.0}
    same = {"kind": "sphere", "centre": [0, 0, 0], "radius": H, "density": 1000.0}
    medium = build(shape=[everywhere, same])
    assert medium.speed == 1600.0 and medium.density == 1000.0
    assert all(isinstance(v, float) for v in (medium.speed, medium.density, medium.absorption))


def test_a_shape_without_points_is_refused() -> None:
    shape = {"kind": "sphere", "centre": [0.5 * H, 0.5 * H, 0.5 * H], "radius": 0.1 * H}
    text = refusal(shape=[{**shape, "speed": 1600.0}])
    assert text.startswith("medium.shape[0] (sphere) contains no grid point; move or enlarge it")


# --- arrays ---------------------------------------------------------------------------------------


def random_values(shape: tuple[int, ...] = CELLS[::-1], seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(1400, 1600, shape)


def test_arrays_are_continued_into_the_layers() -> None:
    speed = random_values()
    medium = build(speed=speed, absorption=np.ones(CELLS[::-1]), power=1.5)
    assert_array_equal(medium.speed, np.pad(speed, LAYERS, mode="edge"))
    assert isinstance(medium.absorption, float)
    assert_allclose(medium.absorption, 100 / (20 / log(10)) / (2e6 * pi) ** 1.5, rtol=1e-14)


def test_shapes_do_not_change_the_arrays_that_were_given() -> None:
    region = tuple(at[LAYERS:-LAYERS] for at in AXES)
    speed = random_values()
    before = speed.copy()
    shape = {"kind": "layer", "axis": "z", "from": H, "speed": 2800.0}
    section = MediumSection(**{**WATER, "speed": speed, "shape": [shape]})
    medium = build_medium(section, region, REGION, "float64")
    assert isinstance(medium.speed, np.ndarray)
    assert_array_equal(speed, before)
    assert_array_equal(medium.speed[1:], np.full((4, 6, 7), 2800))


def test_two_dimensional_arrays_fit_a_grid_with_one_plane() -> None:
    speed = random_values(CELLS[1::-1])
    section = MediumSection(speed=speed, density=1000.0)
    medium = build_medium(section, (*AXES[:2], [0.5]), REGION, "float64")
    assert_array_equal(medium.speed, np.pad(speed, LAYERS, mode="edge")[None])


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_arrays_with_impossible_values_are_refused(value: float) -> None:
    speed = random_values()
    speed[1, 2, 3] = value
    assert "medium.speed has values" in refusal(speed=speed)


def test_arrays_of_another_shape_than_the_region_are_refused() -> None:
    assert "has the shape (7, 6, 5); it must have" in refusal(speed=random_values(CELLS))


def test_a_region_without_points_is_refused() -> None:
    with pytest.raises(InputError, match="the region from x = 1 m to 2 m contains no grid point"):
        build_medium(MediumSection(**WATER), AXES, ((1, 0, 0), (2, 1, 1)))


# --- NetCDF and HDF5 ------------------------------------------------------------------------------


def model(seed: int = 2, margin: float = 0.3 * H) -> xr.Dataset:
    """Random properties on uneven samples that cover the region, but not all of the layers."""
    rng = np.random.default_rng(seed)
    coords = {}
    for axis, n in zip("xyz", CELLS, strict=True):
        inner = np.sort(rng.uniform(0, (n - 1) * H, n + 2))
        coords[axis] = np.concatenate([[-margin], inner, [(n - 1) * H + margin]])
    shape = tuple(len(coords[axis]) for axis in "zyx")
    ranges = {"speed": (1400, 3000), "density": (900, 2100), "absorption": (0.1, 9)}
    variables = {name: (tuple("zyx"), rng.uniform(*r, shape)) for name, r in ranges.items()}
    return xr.Dataset(variables, coords)


def interpolated(data: xr.Dataset, name: str) -> NDArray[Any]:
    """Values at all points; beyond the samples, the nearest values."""
    values = data[name].transpose("z", "y", "x").values
    for axis, dim, at in zip((2, 1, 0), "xyz", AXES, strict=True):
        nodes = data[dim].values
        values = np.apply_along_axis(
            lambda row, to=at, xp=nodes: np.interp(to, xp, row), axis, values
        )
    return values


def properties_file(path: Path, **keys: Any) -> dict[str, Any]:
    return {"quantity": "properties", "file": path, **keys}


def save(tmp_path: Path, data: xr.Dataset, name: str = "model.nc", **options: Any) -> Path:
    path = tmp_path / name
    data.to_netcdf(path, engine=options.pop("engine", "h5netcdf"), **options)
    return path


def assert_matches(medium: AcousticMedium, data: xr.Dataset, rtol: float = 1e-12) -> None:
    assert_allclose(medium.speed, interpolated(data, "speed"), rtol=rtol)
    assert_allclose(medium.density, interpolated(data, "density"), rtol=rtol)
    per_metre = 100 / (20 / log(10)) / (2e6 * pi) ** medium.power
    assert_allclose(medium.absorption, per_metre * interpolated(data, "absorption"), rtol=rtol)


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
            {"quantity": "hounsfield", "file": "ct.nii.gz", "skull": {"absorption": [2, 1]}},
            "the smallest and the largest absorption",
        ),
        (
            {
                "quantity": "hounsfield",
                "file": "ct.nii.gz",
                "skull": {"absorption": [1, 2], "threshold": 2000},
            },
            "must be less than bone_hounsfield, 1000",
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


# --- skull ----------------------------------------------------------------------------------------

SKULL: dict[str, Any] = {"absorption": [2.0, 80.0]}


def skull(**keys: Any) -> Any:
    defaults = {"threshold": 300.0, "bone_hounsfield": 1000.0, "bone_speed": 2900.0}
    others = {"bone_density": 2100.0, "water_speed": 1500.0, "water_density": 1000.0}
    return SimpleNamespace(absorption=(2.0, 80.0), **{**defaults, **others, **keys})


def test_bone_without_pores_and_pores_only_have_the_properties_of_bone_and_water() -> None:
    found = bone_properties(np.array([1000.0, 1800.0, 0.0, -1000.0, 750.0]), skull())
    assert_allclose(found["speed"], [2900, 2900, 1500, 1500, 2550])
    assert_allclose(found["density"], [2100, 2100, 1000, 1000, 1825])
    assert_allclose(found["absorption"], [2, 2, 80, 80, 41])


def test_ct_numbers_in_netcdf_become_bone(tmp_path: Path) -> None:
    data = model()[["speed"]].rename(speed="ct") - 1500  # -100 to 1500
    file = {"quantity": "hounsfield", "file": save(tmp_path, data), "variable": "ct"}
    medium = build(speed=1540.0, density=1050.0, file={**file, "skull": SKULL}, power=1.1)
    ct = interpolated(data, "ct")
    psi = np.clip(1 - ct / 1000, 0, 1)
    bone = ct >= 300
    assert bone.any() and not bone.all()
    assert_allclose(medium.speed, np.where(bone, psi * 1500 + (1 - psi) * 2900, 1540), rtol=1e-12)
    assert_allclose(medium.density, np.where(bone, psi * 1000 + (1 - psi) * 2100, 1050), rtol=1e-12)
    per_metre = 100 / (20 / log(10)) / (2e6 * pi) ** 1.1
    absorption = np.where(bone, 2 + 78 * np.sqrt(psi), 0)
    assert_allclose(medium.absorption, per_metre * absorption, rtol=1e-12)


def test_ct_numbers_without_bone_are_refused(tmp_path: Path) -> None:
    data = model()[["speed"]].rename(speed="hounsfield") - 3000
    file = {"quantity": "hounsfield", "file": save(tmp_path, data, engine="scipy"), "skull": SKULL}
    text = refusal(file=file)
    assert "model.nc changes no grid point" in text and "the threshold or labels" in text


# --- labels and NIfTI -----------------------------------------------------------------------------

MATERIALS = [
    {"label": 1, "speed": 2800.0, "density": 1850.0},
    {"label": 4, "speed": 1560.0},
]


def label_values(seed: int = 3) -> NDArray[np.int16]:
    """Labels (nx, ny, nz) of voxels of 1 mm around the points of the region."""
    return np.random.default_rng(seed).choice([0, 1, 4], CELLS).astype(np.int16)


def save_nifti(tmp_path: Path, values: NDArray[Any], affine: Any = None, **options: Any) -> Path:
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(values, np.eye(4) if affine is None else np.array(affine))
    if "unit" in options:
        image.header.set_xyzt_units(options["unit"])
    path = tmp_path / options.get("name", "ct.nii.gz")
    nibabel.save(image, path)
    return path


def labels_file(path: Path, **keys: Any) -> dict[str, Any]:
    return {"quantity": "labels", "file": path, "material": MATERIALS, **keys}


def assert_labels(medium: AcousticMedium, labels: NDArray[Any]) -> None:
    """Compare a medium with labels (nx, ny, nz) of the region."""
    expected = np.select([labels == 1, labels == 4], [2800.0, 1560.0], 1500.0).transpose()
    assert isinstance(medium.speed, np.ndarray)
    assert_array_equal(medium.speed, np.pad(expected, LAYERS, mode="edge"))
    assert_array_equal(np.unique(medium.density), [1000, 1850])


@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
def test_label_maps_in_nifti_become_materials(tmp_path: Path, name: str) -> None:
    labels = label_values()
    assert_labels(build(file=labels_file(save_nifti(tmp_path, labels, name=name))), labels)


def test_labels_are_those_of_the_nearest_voxel(tmp_path: Path) -> None:
    labels = label_values()
    path = save_nifti(tmp_path, labels)
    file = labels_file(path, offset=[0.3 * H, 0.0, 0.0])
    section = MediumSection(**WATER, file=file)
    region = ((0.4 * H, 0, 0), REGION[1])
    assert_labels(build_medium(section, AXES, region, "float64"), labels)


def test_the_affine_and_the_unit_of_a_nifti_file_are_respected(tmp_path: Path) -> None:
    labels = label_values()
    nx, ny, _ = CELLS
    # The first axis of the array points against y, the second against x; metres.
    affine = np.array(
        [[0, -H, 0, (nx - 1) * H], [-H, 0, 0, (ny - 1) * H], [0, 0, H, 0.1], [0, 0, 0, 1]]
    )
    path = save_nifti(tmp_path, labels[::-1, ::-1].transpose(1, 0, 2), affine, unit="meter")
    assert_labels(build(file=labels_file(path, offset=[0, 0, -0.1])), labels)


def test_axes_turn_a_nifti_file(tmp_path: Path) -> None:
    labels = label_values()
    path = save_nifti(tmp_path, labels[:, :, ::-1].transpose(2, 0, 1))
    file = labels_file(path, axes=["y", "z", "-x"], offset=[0, 0, (CELLS[2] - 1) * H])
    assert_labels(build(file=file), labels)


def test_ct_numbers_in_nifti_are_scaled_and_interpolated(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    ct = np.random.default_rng(5).uniform(-200, 1500, tuple((n + 1) // 2 + 1 for n in CELLS))
    image = nibabel.Nifti1Image(ct, np.diag([2.0, 2.0, 2.0, 1.0]))
    image.header.set_data_dtype(np.int16)
    path = tmp_path / "ct.nii.gz"
    nibabel.save(image, path)
    file = {"quantity": "hounsfield", "file": path, "skull": {**SKULL, "threshold": -1000}}
    medium = build(file=file)
    coords = {axis: 2 * H * np.arange(n) for axis, n in zip("xyz", ct.shape, strict=True)}
    data = xr.Dataset({"ct": (("x", "y", "z"), ct)}, coords)
    psi = np.clip(1 - interpolated(data, "ct") / 1000, 0, 1)
    assert_allclose(medium.speed, psi * 1500 + (1 - psi) * 2900, atol=0.1)


def test_labels_without_material_are_refused(tmp_path: Path) -> None:
    labels = label_values()
    labels[1, 2, 3] = 7
    text = refusal(file=labels_file(save_nifti(tmp_path, labels)))
    assert "has labels without a material, 7; add [[medium.file.material]]" in text


def test_images_that_are_rotated_or_have_times_are_refused(tmp_path: Path) -> None:
    turned = np.eye(4)
    turned[0, 1], turned[1, 0] = 0.05, -0.05
    text = refusal(file=labels_file(save_nifti(tmp_path, label_values(), turned)))
    assert "is rotated relative to the axes" in text and "resample it" in text
    several = np.repeat(label_values()[..., None], 2, axis=3)
    assert "has an image of shape" in refusal(file=labels_file(save_nifti(tmp_path, several)))
    assert_labels(build(file=labels_file(save_nifti(tmp_path, several[..., :1]))), several[..., 0])


def test_a_nifti_file_that_does_not_cover_the_region_is_refused(tmp_path: Path) -> None:
    text = refusal(file=labels_file(save_nifti(tmp_path, label_values()[:-1])))
    assert "covers x from 0 m to 0.005 m" in text and "extend from 0 m to 0.006 m" in text


@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
@pytest.mark.parametrize("part", [0, 10, 0.5, 0.99])
def test_truncated_nifti_files_are_refused(tmp_path: Path, name: str, part: float) -> None:
    path = save_nifti(tmp_path, label_values(), name=name)
    data = path.read_bytes()
    path.write_bytes(data[: int(part if part >= 1 else part * len(data))])
    text = refusal(file=labels_file(path))
    assert "cannot be read as NIfTI" in text and "\n" not in text


def test_a_missing_nibabel_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ct.nii"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "nibabel", None)
    assert "pip install 'groundswell[ultrasound]'" in refusal(file=labels_file(path))
