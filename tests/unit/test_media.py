"""Media: cell averages against brute force, interpolation against xarray, refusals, frugality."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from groundswell.errors import InputError
from groundswell.io.awp import write_awp_mesh
from groundswell.solvers.earthquake.media import (
    Floor,
    Material,
    build_medium,
    find_fault,
    lame,
    survey,
    unit_factor,
)
from groundswell.solvers.earthquake.media_layered import (
    Homogeneous,
    Layer,
    Layered,
    read_layers,
)
from groundswell.solvers.earthquake.media_sampled import (
    ArrayMedium,
    AwpMedium,
    NetcdfMedium,
    _ModelFile,
    brocher_density,
)

CELLS, SPACING = (4, 3, 5), (100.0, 100.0, 100.0)
ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
SOIL = {"vp": 4000.0, "vs": 2000.0, "rho": 2600.0}
SEA = {"vp": 1500.0, "vs": 0.0, "rho": 1025.0}


def layered(*layers, spacing=SPACING, cells=CELLS, **options):
    return Layered(cells, spacing, layers, **options)


def only(array):
    assert array.shape == (1, 1)
    return float(array[0, 0])


# --- oracles -------------------------------------------------------------------------------------


def sample(layers, depth, linear):
    """Properties at each depth: layers painted from the top down, or piecewise linear."""
    names = [n for n in ("vp", "vs", "rho", "qp", "qs") if getattr(layers[0], n) is not None]
    if linear:
        tops = np.array([layer.top for layer in layers], float)
        tops[:-1] -= 1e-9 * (np.diff(tops) == 0)  # a jump
        rows = {n: [getattr(layer, n) for layer in layers] for n in names}
        return {n: np.interp(depth, tops, row) for n, row in rows.items()}
    found = {n: np.empty_like(depth) for n in names}
    for layer in layers:
        for n in names:
            found[n][depth >= layer.top] = getattr(layer, n)
    return found


def brute_average(layers, top, bottom, linear=False, n=400):
    """Density and 1/Q arithmetic, lambda and mu harmonic, over n slices of one cell."""
    at = sample(layers, top + (np.arange(n) + 0.5) / n * (bottom - top), linear)
    mu = 1 / np.mean(1 / (at["rho"] * at["vs"] ** 2))
    lam = 1 / np.mean(1 / (at["rho"] * (at["vp"] ** 2 - 2 * at["vs"] ** 2)))
    rho = np.mean(at["rho"])
    found = {"vp": np.sqrt((lam + 2 * mu) / rho), "vs": np.sqrt(mu / rho), "rho": rho}
    return found | {q: 1 / np.mean(1 / at[q]) for q in ("qp", "qs")}


@st.composite
def tables(draw, contrast=20, step=0.25, ratio=1.5):
    """Layers from the surface down, lambda > 0, with tops on multiples of `step` metres."""
    tops = draw(st.lists(st.integers(1, int(499 / step)), max_size=5, unique=True))
    layers = []
    for top in [0, *sorted(tops)]:
        vs = draw(st.floats(200, 200 * contrast))
        vp = vs * draw(st.floats(ratio, 4))
        rho, qp, qs = (draw(st.floats(low, contrast * low)) for low in (500, 20, 10))
        layers.append(Layer(top * step, vp, vs, rho, qp, qs))
    return layers


# --- layers --------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(0, 4))
def test_cells_hold_the_average_of_the_layers_in_them(layers, k):
    found = layered(*layers).plane(k)
    # Slices of a quarter of a metre lie in one layer each: the oracle is exact.
    for name, value in brute_average(layers, 100 * k, 100 * (k + 1), n=400).items():
        assert_allclose(only(getattr(found, name)), value, rtol=1e-9, err_msg=name)


@settings(max_examples=10, deadline=None)
@given(tables(contrast=4, step=25, ratio=2), st.integers(0, 4))
def test_linear_profiles_are_averaged_too(layers, k):
    layers = [*layers, replace(layers[-1], vp=layers[-1].vp * 1.3)]  # a jump at the last depth
    found = layered(*layers, interpolation="linear").plane(k)
    brute = brute_average(layers, 100 * k, 100 * (k + 1), linear=True, n=20_000)
    for name, value in brute.items():
        assert_allclose(only(getattr(found, name)), value, rtol=1e-5, err_msg=name)


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 1990))
def test_cutting_a_layer_in_two_changes_nothing(layers, eighths):
    depth = eighths / 4 + 1 / 8
    above = [layer for layer in layers if layer.top < depth]
    below = [layer for layer in layers if layer.top > depth]
    cut = [*above, replace(above[-1], top=depth), *below]
    for k in range(5):
        a, b = layered(*layers).plane(k), layered(*cut).plane(k)
        for name, values in a.given().items():
            assert_allclose(b.given()[name], values, rtol=1e-10)


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 4))
def test_averages_lie_between_the_layers(layers, k):
    inside = [n for n in layers if n.top < 100 * (k + 1)]
    last = max(i for i, n in enumerate(inside) if n.top <= 100 * k)
    parts = [
        lame(Material(*(np.array(getattr(n, a)) for a in ("vp", "vs", "rho"))))
        for n in inside[last:]
    ]
    for found, values in zip(
        lame(layered(*layers).plane(k)), zip(*parts, strict=True), strict=True
    ):
        assert min(values) * (1 - 1e-9) <= only(found) <= max(values) * (1 + 1e-9)


def test_a_cell_halved_by_the_loh1_interface_has_the_published_speeds():
    # Layer over half-space of LOH.1 (Day et al. 2001, PEER project 1A01); speeds of the mixed cell
    # as in SW4's input files, where the half-space's vs is 3464 or sqrt(3) times 2000 m/s.
    found = layered(Layer(0.0, **SOIL), Layer(150.0, **ROCK)).plane(1)
    assert only(found.vp) == pytest.approx(4630.76, abs=0.1)
    assert only(found.vs) == pytest.approx(2437.56, abs=0.1)
    assert only(found.rho) == pytest.approx(2650.0)


def test_cells_inside_one_layer_hold_it_to_the_bit():
    medium = layered(Layer(0.0, **SOIL), Layer(200.0, **ROCK))
    for k, expected in enumerate([SOIL, SOIL, ROCK, ROCK, ROCK]):
        assert {name: only(v) for name, v in medium.plane(k).given().items()} == expected


def test_an_interface_that_misses_a_face_by_rounding_leaves_no_sliver():
    for error in (-1e-12, 1e-12):
        medium = layered(Layer(0.0, **SEA), Layer(300 * (1 + error), **ROCK))
        assert [only(medium.plane(k).vs) for k in range(5)] == [0, 0, 0, ROCK["vs"], ROCK["vs"]]


def test_a_cell_with_some_water_is_a_fluid():
    medium = layered(Layer(0.0, **SEA), Layer(130.0, **ROCK))
    found = medium.plane(1)
    lam = 1 / (0.3 / lame(Material(**SEA))[0] + 0.7 / lame(Material(**ROCK))[0])
    assert only(found.vs) == 0
    assert only(found.rho) == pytest.approx(0.3 * 1025 + 0.7 * 2700)
    assert only(found.rho) * only(found.vp) ** 2 == pytest.approx(lam)


def test_water_needs_no_meaningful_qs():
    sea = Layer(0.0, **SEA, qp=1e5, qs=0.0)
    medium = layered(sea, Layer(100.0, **ROCK, qp=400.0, qs=200.0))
    found = survey(medium)
    assert (found.qs_min, found.qs_max, found.qp_max) == (200.0, 200.0, 1e5)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "layers is empty"),
        ([Layer(-500.0, **ROCK)], r"tops are \[-500.0\] m.*0 m \(the surface\)"),
        ([Layer(10.0, **ROCK)], r"tops are \[10.0\] m.*0 m \(the surface\)"),
        ([Layer(0.0, **SOIL), Layer(0.0, **ROCK)], "layer 2 has its top at 0 m.*must increase"),
        ([Layer(0.0, **SOIL), Layer(np.nan, **ROCK)], "must be finite"),
        ([Layer(0.0, 3000.0, 2900.0, 2000.0)], r"layer 1 \(top 0 m\).*sqrt\(4/3\) vs"),
        ([Layer(0.0, 3000.0, -1000.0, 2000.0)], "vs = -1000.*vs must be positive, or 0"),
        ([Layer(0.0, **SOIL), Layer(9.0, 5.0, 2.0, 0.0)], r"layer 2 \(top 9 m\).*rho must be pos"),
        ([Layer(0.0, np.nan, 0.0, 1.0)], "vp must be a finite number"),
        ([Layer(0.0, **SOIL, qp=10.0)], "has no qs"),
        ([Layer(0.0, **SOIL, qp=9.0, qs=9.0), Layer(5.0, **ROCK)], "layer 2.*has no qp"),
        ([Layer(0.0, **SOIL, qp=9.0, qs=-9.0)], "qs must be positive in a solid"),
        ([Layer(0.0, None, 1.0, 1.0)], "has no vp"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(layers, message):
    with pytest.raises(InputError, match=message):
        layered(*layers)


def test_negative_lambda_is_refused_only_where_it_would_be_mixed():
    auxetic = {"vp": 1300.0, "vs": 1000.0, "rho": 2000.0}
    layered(Layer(0.0, **auxetic), Layer(200.0, **ROCK)).plane(1)
    with pytest.raises(InputError, match=r"row 2 .*negative lambda.*multiple of the spacing"):
        layered(Layer(0.0, **auxetic), Layer(250.0, **ROCK)).plane(2)


# --- tables from files ---------------------------------------------------------------------------


def test_columns_of_a_table_are_converted_from_their_units(tmp_path):
    path = tmp_path / "model.csv"
    path.write_text(
        "\ufeff# a model\n\ndepth[km], vp[km/s],vs [km/s],rho[g/cm^3],Qp,Qs\n"
        "0,5.5,3.18,2.4,300,150\n  # half-space\n5.5, 6.3 ,3.64,2.67,600,300\n"
    )
    assert read_layers(path) == [
        Layer(0.0, 5500.0, 3180.0, pytest.approx(2400.0), 300.0, 150.0),
        Layer(5500.0, 6300.0, 3640.0, pytest.approx(2670.0), 600.0, 300.0),
    ]


def test_columns_without_units_are_si(tmp_path):
    path = tmp_path / "model.csv"
    path.write_text("rho,top,vs,vp\n2700,0,3464,6000\n")
    assert read_layers(path) == [Layer(0.0, **ROCK)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no layers"),
        ("top,vp,vs,rho\n", "no layers"),
        ("top,vp,vs\n0,1,1\n", "lacks the columns rho"),
        ("top,vp,vs,rho,colour\n0,1,1,1,1\n", "column 'colour' is not known"),
        ("top,vp,vp,rho\n0,1,1,1\n", "'vp' is not known, or is there twice"),
        ("top,vp[kg],vs,rho\n0,1,1,1\n", "column vp: unit 'kg' does not convert to m/s"),
        ("top,vp,vs,rho,qp[km]\n0,1,1,1,1\n", "does not convert to a plain number"),
        ("# n\ntop,vp,vs,rho\n0,1e3,1,1e3\n1,2,3\n", "line 4: 3 values for 4 columns"),
        (
            "top,vp,vs,rho\n0,3,1,2500\n",
            r"line 2: vp = 3 m/s .*100 m/s; .*vp\[km/s\] in the header",
        ),
        ("top,vp,vs,rho\n0,3e3,0,2.5\n", r"line 2: rho = 2.5 kg/m\^3 .*write rho\[g/cm\^3\]"),
        ("top,vp,vs,rho\n0,fast,1,1\n", "line 2: vp = 'fast' is not a number"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(tmp_path, text, message):
    path = tmp_path / "model.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_layers(path)


def test_a_missing_table_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_layers(tmp_path / "none.csv")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_give_layers_or_an_input_error(tmp_path_factory, noise, headed):
    path = tmp_path_factory.getbasetemp() / "noise.csv"
    path.write_bytes((b"top,vp,vs,rho\n" if headed else b"") + noise)
    with suppress(InputError):
        assert all(isinstance(layer, Layer) for layer in read_layers(path))


@pytest.mark.parametrize(
    ("unit", "target", "factor"),
    [
        ("", "m/s", 1),
        ("m s-1", "m/s", 1),
        ("km.s-1", "m/s", 1000),
        ("km s^-1", "m/s", 1000),
        ("g cm**-3", "kg/m^3", 1000),
        ("kg m-3", "kg/m^3", 1),
        ("g/cm3", "kg/m^3", 1000),
        ("meters", "m", 1),
    ],
)
def test_units_in_the_notations_of_the_field(unit, target, factor):
    assert unit_factor(unit, target, "here") == factor


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="kmgs/*^.-() 19", max_size=12))
def test_any_unit_gives_a_factor_or_an_input_error(unit):
    try:
        assert unit_factor(unit, "m", "here") > 0
    except InputError as error:
        assert "here: unit" in str(error)


# --- the survey ----------------------------------------------------------------------------------


def random_arrays(seed, shape=(5, 3, 4), dtype=np.float64):
    rng = np.random.default_rng(seed)
    vs = rng.uniform(300, 3500, shape)
    vp = vs * rng.uniform(1.3, 3, shape)
    found = {"vp": vp, "vs": vs, "rho": rng.uniform(1500, 3000, shape)}
    found |= {"qp": rng.uniform(20, 900, shape), "qs": rng.uniform(10, 500, shape)}
    return {name: values.astype(dtype) for name, values in found.items()}


def test_a_survey_finds_the_extremes_of_the_whole_model():
    arrays = random_arrays(1)
    wet = np.zeros((5, 3, 4), bool)
    wet[0, 1:, 2:] = True
    arrays["vs"][wet], arrays["qs"][wet] = 0, np.pi
    arrays["vp"][0, 1, 2] = 299.0
    arrays["vs"][3, 2, 1] = arrays["vs"][4, 0, 0] = 299.5
    found = survey(ArrayMedium(SPACING, **arrays))
    dry = {name: np.where(wet, np.nan, values) for name, values in arrays.items()}
    for name in ("vp", "rho", "qp"):
        assert getattr(found, f"{name}_min") == arrays[name].min()
        assert getattr(found, f"{name}_max") == arrays[name].max()
    for name in ("vs", "qs"):
        assert getattr(found, f"{name}_min") == np.nanmin(dry[name])
        assert getattr(found, f"{name}_max") == np.nanmax(dry[name])
    assert found.vp_vs_max == np.nanmax(dry["vp"] / dry["vs"])
    limit = 0.75 * (dry["vp"] / dry["vs"]) ** 2
    assert found.qp_qs_max == pytest.approx(np.nanmax(dry["qp"] / dry["qs"] / limit))
    assert found.fluid_cells == wet.sum() == 4
    assert found.speed_min == 299.0
    assert found.vs_min_cell == (1, 2, 3)
    assert found.vs_min_depth == 350.0
    assert found.floored == {}


def test_a_sea_without_ground_has_no_s_waves():
    found = survey(Homogeneous(CELLS, SPACING, **SEA))
    assert (found.vs_min, found.vs_min_cell, found.vp_vs_max, found.qs_max) == (None,) * 4
    assert (found.speed_min, found.fluid_cells) == (1500.0, 60)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("vp", np.nan, "vp must be a finite number"),
        ("rho", np.inf, "rho must be a finite number"),
        ("vp", 0.0, "vp must be positive"),
        ("rho", -1.0, "rho must be positive"),
        ("vs", -1.0, "vs must be positive, or 0 in a fluid"),
        ("qp", 0.0, "qp must be positive"),
        ("qs", -5.0, "qs must be positive in a solid"),
        ("vp", 1.0, r"vp must exceed sqrt\(4/3\) vs"),
        ("rho", 2.7, r"rho must be at least 100 kg/m\^3; is the model in g/cm\^3\?"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_survey_refuses_unphysical_cells_and_says_where(name, value, rule, dtype):
    arrays = random_arrays(2, dtype=dtype)
    arrays[name][4, 1, 3] = value
    place = r"cell \(3, 1, 4\) \(x = 350 m, y = 150 m, depth = 450 m\)"
    with pytest.raises(InputError, match=f"{place} has .*{name} = .*{rule}.*floor"):
        survey(ArrayMedium(SPACING, **arrays))


@given(st.floats(100, 9000), st.floats(1.0, 2.0))
def test_the_bulk_modulus_decides_what_is_physical(vs, ratio):
    material = Material(*(np.array([value]) for value in (ratio * vs, vs, 2000.0)))
    lam, mu = lame(material)
    bulk = float((lam + 2 / 3 * mu)[0])
    if abs(bulk) > 1e-9 * float(mu[0]):
        assert (find_fault(material) is None) == (bulk > 0)


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(["constant", "linear"]), st.sampled_from([7.0, 12.5, 100.0]))
def test_a_survey_of_runs_is_one_of_every_row(layers, interpolation, h):
    def medium():
        made = layered(
            *layers, spacing=(9.0, 9.0, h), cells=(4, 3, 60), interpolation=interpolation
        )
        return Floor(made, vs=800.0)

    fast, slow = medium(), medium()
    runs = slow.runs()
    assert [k for k, _ in runs] == np.cumsum([0, *(n for _, n in runs)])[:-1].tolist()
    assert sum(n for _, n in runs) == 60
    slow.runs = lambda: [(k, 1) for k in range(60)]
    assert survey(fast) == survey(slow)


def test_a_large_layered_model_is_surveyed_in_a_moment():
    cells, spacing = (500, 500, 250), (40.0, 40.0, 40.0)
    layers = [Layer(333.3 * n, 3000 + 100 * n, 1500 + 50 * n, 2500.0) for n in range(30)]
    start = time.perf_counter()
    found = survey(Floor(Layered(cells, spacing, layers), vs=1600.0))
    assert time.perf_counter() - start < 2
    assert found.floored["vs"] % 250_000 == 0
    assert found.floored["vs"] > 0


# --- the floor -----------------------------------------------------------------------------------


def test_a_floor_raises_solids_at_constant_bulk_modulus():
    arrays = random_arrays(3)
    arrays["vs"][0, 0, 0] = 0.0
    floor = Floor(ArrayMedium(SPACING, **arrays), vs=1000.0, rho=2000.0)
    slow = (arrays["vs"] < 1000) & (arrays["vs"] > 0)
    for k in range(5):
        found, raised = floor.plane(k), slow[k]
        assert_array_equal(found.vs[raised], 1000.0)
        assert_array_equal(found.vs[~raised], arrays["vs"][k][~raised])
        assert_array_equal(found.vp[~raised], arrays["vp"][k][~raised])
        bulk = found.vp**2 - 4 / 3 * found.vs**2
        assert_allclose(bulk, arrays["vp"][k] ** 2 - 4 / 3 * arrays["vs"][k] ** 2, rtol=1e-9)
        assert_array_equal(found.rho, np.maximum(arrays["rho"][k], 2000))
        assert_array_equal(found.qs, arrays["qs"][k])
    light = int((arrays["rho"] < 2000).sum())
    assert floor.changed == {"vp": slow.sum(), "vs": slow.sum(), "rho": light}
    assert survey(floor).floored == floor.changed


def test_a_floor_counts_each_cell_once_and_keeps_single_precision():
    floor = Floor(ArrayMedium(SPACING, **random_arrays(4, dtype=np.float32)), vp=9e9)
    for _ in range(3):
        plane = floor.plane(2)
    assert floor.changed == {"vp": 12, "vs": 0, "rho": 0}
    assert {values.dtype for values in plane.given().values()} == {np.dtype(np.float32)}


# --- arrays and meshes ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_keep_their_precision(dtype):
    arrays = random_arrays(5, dtype=dtype)
    medium = ArrayMedium(SPACING, **arrays)
    assert medium.cells == (4, 3, 5)
    for name, values in medium.plane(3).given().items():
        assert values.dtype == dtype
        assert_array_equal(values, arrays[name][3])


def test_integers_become_double_before_moduli_overflow():
    whole = {name: np.full((2, 2, 2), value, np.int32) for name, value in ROCK.items()}
    lam, mu = lame(ArrayMedium(SPACING, **whole).plane(0))
    assert_allclose(mu, 2700 * 3464.0**2)
    assert_allclose(lam, 2700 * (6000.0**2 - 2 * 3464.0**2))


def test_arrays_of_different_shapes_are_refused():
    arrays = random_arrays(6)
    with pytest.raises(InputError, match=r"one shape \(nz, ny, nx\)"):
        ArrayMedium(SPACING, **(arrays | {"rho": arrays["rho"][:-1]}))
    with pytest.raises(InputError, match="both qp and qs"):
        ArrayMedium(SPACING, **(arrays | {"qp": None}))


def test_one_plane_of_a_huge_mapped_file_is_all_that_is_read(tmp_path):
    path, shape = tmp_path / "vp.raw", (1000, 800, 800)
    with path.open("wb") as file:
        file.truncate(4 * int(np.prod(shape)))  # 2.56 GB of hole
        file.seek(4 * 700 * 800 * 800)
        file.write(np.full(shape[1:], 5000, np.float32).tobytes())
    vp = np.memmap(path, np.float32, "r", shape=shape)
    assert path.stat().st_blocks * 512 < 1e8
    tracemalloc.start()
    plane = ArrayMedium(SPACING, vp, vp, vp).plane(700)
    assert_array_equal(plane.vp, 5000)
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


@pytest.fixture
def mesh(tmp_path):
    arrays = random_arrays(7, dtype=np.float32)
    planes = [{name: values[k] for name, values in arrays.items()} for k in range(5)]
    write_awp_mesh(tmp_path / "3.bin", planes, 3)
    write_awp_mesh(tmp_path / "8.bin", planes, 8)
    return tmp_path, arrays


def test_an_awp_mesh_is_handed_on_in_single_precision(mesh):
    folder, arrays = mesh
    medium = AwpMedium(folder / "8.bin", CELLS, SPACING, mesh_cells=CELLS, variables=8)
    for name, values in medium.plane(2).given().items():
        assert values.dtype == np.float32
        assert_array_equal(values, arrays[name][2])


def test_an_awp_mesh_gets_q_only_on_request(mesh):
    path = mesh[0] / "3.bin"
    assert AwpMedium(path, CELLS, SPACING, mesh_cells=CELLS, variables=3).plane(0).qs is None
    options = {"mesh_cells": CELLS, "variables": 3, "q_rule": "awp"}
    plane = AwpMedium(path, CELLS, SPACING, **options).plane(0)
    assert_allclose(plane.qs, 0.05 * plane.vs, rtol=1e-6)
    assert_allclose(plane.qp, 0.10 * plane.vs, rtol=1e-6)
    assert plane.qp.dtype == np.float32


def test_an_awp_mesh_must_fit_the_region(mesh):
    path = mesh[0] / "8.bin"
    with pytest.raises(InputError, match=r"\[4, 3, 5\].*region has \[4, 3, 6\].*grid.size"):
        AwpMedium(path, (4, 3, 6), SPACING, mesh_cells=CELLS, variables=8)
    with pytest.raises(InputError, match="has Q itself"):
        AwpMedium(path, CELLS, SPACING, mesh_cells=CELLS, variables=8, q_rule="awp")
    with pytest.raises(InputError, match="q_rule = 'olsen': must be one of awp"):
        AwpMedium(path, CELLS, SPACING, mesh_cells=CELLS, variables=8, q_rule="olsen")


# --- netCDF models -------------------------------------------------------------------------------


def make_model(seed, x, y, depth, names=("x", "y", "depth")):
    """A random model with dims (x, y, depth) and its axes as given."""
    rng = np.random.default_rng(seed)
    shape = (len(x), len(y), len(depth))
    vs = rng.uniform(500, 3000, shape)
    values = {"vp": vs * rng.uniform(1.6, 2.5, shape), "vs": vs}
    values["rho"] = rng.uniform(2000, 3000, shape)
    axes = dict(zip(names, (x, y, depth), strict=True))
    return xr.Dataset({n: (names, v) for n, v in values.items()}, coords=axes)


def uneven(rng, low, high, n):
    return np.concatenate([[low], np.sort(rng.uniform(low, high, n - 2)), [high]])


@pytest.fixture
def model():
    rng = np.random.default_rng(11)
    return make_model(12, uneven(rng, -30, 431, 9), uneven(rng, 0, 300, 7), uneven(rng, 10, 500, 8))


def save(tmp_path, data, **options):
    path = tmp_path / "model.nc"
    data.to_netcdf(path, engine=options.pop("engine", "h5netcdf"), **options)
    return path


def centres(n, h):
    return (np.arange(n) + 0.5) * h


def assert_interpolates(medium, data, cells=CELLS, spacing=SPACING):
    x, y, z = (xr.DataArray(centres(n, h)) for n, h in zip(cells, spacing, strict=True))
    for k in range(cells[2]):
        for name, values in medium.plane(k).given().items():
            exact = data[name].interp(depth=z[k]).interp(y=y.values).interp(x=x.values)
            assert values.shape == (cells[1], cells[0])
            assert_allclose(values, exact.transpose("y", "x").values, rtol=1e-12)


@pytest.mark.parametrize("dims", [("x", "y", "depth"), ("depth", "y", "x"), ("y", "depth", "x")])
def test_a_model_is_interpolated_trilinearly(tmp_path, model, dims):
    path = save(tmp_path, model.transpose(*dims))
    assert_interpolates(NetcdfMedium(path, CELLS, SPACING), model)


def test_axes_may_run_backwards_and_rows_be_asked_for_in_any_order(tmp_path, model):
    path = save(tmp_path, model.isel(x=slice(None, None, -1), depth=slice(None, None, -1)))
    medium = NetcdfMedium(path, CELLS, SPACING)
    assert_interpolates(medium, model)
    assert_interpolates(medium, model)


def test_a_pass_downwards_reads_each_slab_once(tmp_path, model, monkeypatch):
    medium = NetcdfMedium(save(tmp_path, model), CELLS, SPACING)
    reads, read = [], _ModelFile.read
    monkeypatch.setattr(_ModelFile, "read", lambda *a: reads.append(a[1:3]) or read(*a))
    survey(medium)
    assert len(reads) == len(set(reads)) <= 3 * model.sizes["depth"]


def test_models_in_the_classic_format_are_read(tmp_path, model):
    path = save(tmp_path, model, engine="scipy")
    assert_interpolates(NetcdfMedium(path, CELLS, SPACING), model)


def test_units_packing_and_names_of_a_model_are_respected(tmp_path, model):
    other = model.assign_coords({name: model[name] / 1000 for name in ("x", "y", "depth")})
    other = (other / 1000).rename(vp="Vp", vs="beta", rho="density")
    for name, unit in {"Vp": "km/s", "beta": "km.s-1", "density": "g/cm^3"}.items():
        other[name].attrs["units"] = unit
    for name in ("x", "y", "depth"):
        other[name].attrs["units"] = "km"
    packed = {"Vp": {"dtype": "int32", "scale_factor": 1e-8, "_FillValue": -1}}
    path = save(tmp_path, other, encoding=packed)
    names = {"vp": "Vp", "vs": "beta", "rho": "density"}
    medium = NetcdfMedium(path, CELLS, SPACING, variables=names)
    for k in range(CELLS[2]):
        found, exact = (
            medium.plane(k),
            model.interp(x=centres(4, 100), y=centres(3, 100), depth=100 * k + 50.0),
        )
        for name, values in found.given().items():
            assert_allclose(values, exact[name].transpose("y", "x"), rtol=1e-7)


class Tilted:
    """A stand-in for the run's geography: a turned, sheared map, invertible by nobody."""

    def to_lonlat(self, x, y):
        return -118 + 1e-5 * x + 2e-6 * y + 1e-10 * x * y, 34 + 9e-6 * y - 3e-6 * x


@pytest.mark.parametrize("names", [("lon", "lat"), ("longitude", "latitude")])
@pytest.mark.parametrize("turn", [0, 360])
def test_models_on_longitude_and_latitude_follow_the_geography(tmp_path, names, turn):
    lon, lat = np.linspace(-118.01, -117.98, 14), np.linspace(33.99, 34.01, 11)
    data = make_model(13, lon, lat, np.linspace(0, 600, 5), (*names, "depth"))
    path = save(tmp_path, data.assign_coords({names[0]: lon + turn}))
    medium = NetcdfMedium(path, CELLS, SPACING, geography=Tilted())
    x, y = np.meshgrid(centres(4, 100), centres(3, 100))
    at = dict(zip(names, (xr.DataArray(a) for a in Tilted().to_lonlat(x, y)), strict=True))
    for k in range(CELLS[2]):
        for name, values in medium.plane(k).given().items():
            exact = data[name].interp(depth=100 * k + 50.0).interp(at)
            assert_allclose(values, exact.values, rtol=1e-9)


def test_longitude_and_latitude_need_a_geography(tmp_path):
    data = make_model(14, [0.0, 1.0], [0.0, 1.0], [0.0, 900.0], ("lon", "lat", "depth"))
    with pytest.raises(InputError, match=r"\[grid.geography\]"):
        NetcdfMedium(save(tmp_path, data), CELLS, SPACING)


@pytest.mark.parametrize(
    ("axis", "cells", "message"),
    [
        ("x", (5, 3, 5), "covers x from -30 to 431 and .* need 50 to 450"),
        ("y", (4, 4, 5), "covers y from 0 to 300 and .* need 50 to 350"),
        ("depth", (4, 3, 6), "covers depth from 10 to 500 and .* need 50 to 550.*shrink grid.size"),
    ],
)
def test_a_model_must_cover_the_region(tmp_path, model, axis, cells, message):
    with pytest.raises(InputError, match=message):
        NetcdfMedium(save(tmp_path, model), cells, SPACING)


def test_gaps_of_a_model_are_named(tmp_path, model):
    model["vs"][{"x": 4, "y": 3}] = np.nan
    at = dict(zip(("x", "y", "depth"), map(centres, CELLS, SPACING), strict=True))
    exact = model["vs"].interp(at).transpose("depth", "y", "x").values
    k, j, i = np.argwhere(np.isnan(exact))[0]
    with pytest.raises(InputError, match=rf"vs has no value \(NaN\) at cell \({i}, {j}, {k}\)"):
        survey(NetcdfMedium(save(tmp_path, model), CELLS, SPACING))


def test_fill_values_of_a_model_are_gaps(tmp_path, model):
    model["rho"][:] = 99999.0
    path = save(tmp_path, model, encoding={"rho": {"_FillValue": 99999.0}})
    with pytest.raises(InputError, match="variable rho has no value"):
        NetcdfMedium(path, CELLS, SPACING).plane(0)


def test_density_and_q_come_from_rules_only_on_request(tmp_path, model):
    path = save(tmp_path, model.drop_vars("rho"))
    with pytest.raises(InputError, match=r"no variable rho \(for rho\); it has vp, vs.*brocher"):
        NetcdfMedium(path, CELLS, SPACING)
    model["vp"] = model["vp"].clip(1600, 8000)
    path = save(tmp_path, model.drop_vars("rho"))
    medium = NetcdfMedium(path, CELLS, SPACING, rho_rule="brocher", q_rule="awp")
    plane = medium.plane(1)
    assert_allclose(plane.rho, brocher_density(plane.vp))
    assert_allclose(plane.qs, plane.vs / 20)
    assert_allclose(plane.qp, plane.vs / 10)
    assert NetcdfMedium(path, CELLS, SPACING, rho_rule="brocher").plane(1).qp is None


def test_q_in_the_file_is_used(tmp_path, model):
    model["qp"], model["Qmu"] = model["vp"] / 10, model["vs"] / 10
    path = save(tmp_path, model)
    plane = NetcdfMedium(path, CELLS, SPACING, variables={"qs": "Qmu"}).plane(4)
    assert_allclose(plane.qp, plane.vp / 10)
    assert_allclose(plane.qs, plane.vs / 10)
    with pytest.raises(InputError, match=r"no variable qs \(for qs\)"):
        NetcdfMedium(path, CELLS, SPACING)


def test_brocher_density_of_common_rocks():
    # Brocher (2005), eq. 1, evaluated term by term in g/cm^3 and km/s.
    v = np.array([1.5, 3.0, 6.0, 8.5])
    exact = 1.6612 * v - 0.4721 * v**2 + 0.0671 * v**3 - 0.0043 * v**4 + 0.000106 * v**5
    assert_allclose(brocher_density(1000 * v), 1000 * exact)
    assert brocher_density(np.array([6000.0]))[0] == pytest.approx(2717, abs=1)
    with pytest.raises(InputError, match="1500 to 8500 m/s and the model has vp = 1400"):
        brocher_density(np.array([2000.0, 1400.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho_rule": "gardner"}, "rho_rule = 'gardner': must be one of brocher"),
        ({"q_rule": "magic"}, "q_rule = 'magic': must be one of awp"),
        ({"rho_rule": "brocher", "variables": {"rho": "rho"}}, "remove one of them"),
        ({"variables": {"vp": "alpha"}}, r"no variable alpha \(for vp\)"),
    ],
)
def test_requests_a_model_cannot_honour_are_refused(tmp_path, model, options, message):
    with pytest.raises(InputError, match=message):
        NetcdfMedium(save(tmp_path, model), CELLS, SPACING, **options)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.rename(depth="z"), "needs one-dimensional coordinates x, y, depth"),
        (lambda d: d.isel(depth=[3]), "depth must be a list of two or more values in order"),
        (lambda d: d.isel(x=[0, 2, 1, 3, 4, 5, 6, 7, 8]), "coordinate x must be a list"),
        (lambda d: d.assign(vs=d.vs.isel(x=0, drop=True)), "variable vs has the dimensions"),
        (lambda d: d.assign(vp=d.vp.assign_attrs(units="furlong")), "unit 'furlong'"),
        (lambda d: d.assign_coords(x=d.x.assign_attrs(units="s")), "x: unit 's' does not conv"),
        (lambda d: d.assign_coords(depth=d.depth.assign_attrs(positive="up")), "positive up"),
    ],
)
def test_models_that_are_not_rectilinear_or_clear_are_refused(tmp_path, model, spoil, message):
    with pytest.raises(InputError, match=message):
        NetcdfMedium(save(tmp_path, spoil(model)), CELLS, SPACING)


def test_files_that_are_no_models_are_refused(tmp_path, model):
    with pytest.raises(InputError, match="does not exist"):
        NetcdfMedium(tmp_path / "none.nc", CELLS, SPACING)
    path = save(tmp_path, model)
    for content in (path.read_bytes()[:2000], b"", b"vp,vs\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"cannot be read as netCDF.*write it again") as caught:
            NetcdfMedium(path, CELLS, SPACING)
        assert "\n" not in str(caught.value)


def test_a_row_of_a_huge_model_reads_its_own_slabs_only(tmp_path):
    import h5netcdf

    path, n, depth = tmp_path / "huge.nc", 1000, 220
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"depth": depth, "y": n, "x": n}
        for name, size in file.dimensions.items():
            file.create_variable(name, (name,), data=100.0 * np.arange(size.size))
        for name, value in ROCK.items():  # 0.9 GB each, of which two slabs are stored
            variable = file.create_variable(
                name, ("depth", "y", "x"), "f4", chunks=(1, 250, 250), fillvalue=np.float32(0)
            )
            variable[100:102] = np.full((2, n, n), value)
    tracemalloc.start()
    medium = NetcdfMedium(path, (40, 30, 219), SPACING)
    plane = medium.plane(100)
    assert_allclose(plane.rho, ROCK["rho"])
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


# --- from the case -------------------------------------------------------------------------------


def test_the_case_chooses_the_medium(tmp_path, model, mesh):
    csv = tmp_path / "layers.csv"
    csv.write_text("top,vp,vs,rho\n0,4000,2000,2600\n250,6000,3464,2700\n")
    path = save(tmp_path, model)
    layers = [SimpleNamespace(top=0.0, **ROCK, qp=None, qs=None)]
    asked = {
        Homogeneous: SimpleNamespace(kind="homogeneous", **ROCK),
        Layered: SimpleNamespace(kind="layered", layers=layers, file=None),
        NetcdfMedium: SimpleNamespace(kind="netcdf", file=path, variables={"vp": "vp"}),
        AwpMedium: SimpleNamespace(
            kind="awp", file=mesh[0] / "8.bin", cells=list(CELLS), variables=8
        ),
        ArrayMedium: SimpleNamespace(kind="arrays", **mesh[1]),
    }
    for kind, case in asked.items():
        medium = build_medium(case, CELLS, SPACING, None)
        assert type(medium) is kind
        assert medium.cells == CELLS
        assert survey(medium).vp_max > 0
    from_file = build_medium(SimpleNamespace(kind="layered", file=csv), CELLS, SPACING)
    assert only(from_file.plane(4).vp) == 6000


@pytest.mark.parametrize("table", [dict, lambda **entries: SimpleNamespace(rho=None, **entries)])
def test_the_case_asks_for_the_floor(table):
    case = SimpleNamespace(kind="homogeneous", **SOIL, floor=table(vs=2500.0, vp=None))
    found = survey(build_medium(case, CELLS, SPACING))
    assert (found.vs_min, found.floored["vs"], found.floored["rho"]) == (2500.0, 60, 0)


def test_the_case_must_make_sense():
    with pytest.raises(InputError, match="kind = 'jelly': must be one of homogeneous, layered"):
        build_medium(SimpleNamespace(kind="jelly"), CELLS, SPACING)
    with pytest.raises(InputError, match="either layers or file, and not both"):
        build_medium(SimpleNamespace(kind="layered", layers=None), CELLS, SPACING)
    arrays = SimpleNamespace(kind="arrays", **random_arrays(8))
    with pytest.raises(InputError, match=r"have \[4, 3, 5\] cells .* region \[4, 3, 6\]"):
        build_medium(arrays, (4, 3, 6), SPACING)
    with pytest.raises(InputError, match="has no vs"):
        build_medium(SimpleNamespace(kind="homogeneous", vp=1.0, rho=1.0), CELLS, SPACING)
