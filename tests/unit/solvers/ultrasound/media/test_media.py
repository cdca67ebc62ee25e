"""Media of ultrasound cases: sections, shapes and arrays."""

from __future__ import annotations

import tomllib
from math import dist, inf, log, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from ultrasound_media import AXES, CELLS, LAYERS, REGION, SHAPE, WATER, H, build, refusal

from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError
from groundswell.solvers.ultrasound.media import MediumSection, build_medium
from groundswell.solvers.ultrasound.media.shapes import Box, Cylinder, Sphere, layer, window_of

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
