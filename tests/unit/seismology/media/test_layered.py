"""Layered media: cell averages against brute force, units, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_media import ROCK, SEA, SOIL, layer_tables, layered, uniform_value

from groundswell.errors import InputError
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.media.material import find_unphysical, unit_factor
from groundswell.seismology.media.statistics import medium_statistics

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
    """Density and 1/Q arithmetic, P modulus and mu harmonic, over n slices of one cell."""
    at = sample(layers, top + (np.arange(n) + 0.5) / n * (bottom - top), linear)
    mu = 1 / np.mean(1 / (at["rho"] * at["vs"] ** 2))
    p_modulus = 1 / np.mean(1 / (at["rho"] * at["vp"] ** 2))
    rho = np.mean(at["rho"])
    found = {"vp": np.sqrt(p_modulus / rho), "vs": np.sqrt(mu / rho), "rho": rho}
    return found | {q: 1 / np.mean(1 / at[q]) for q in ("qp", "qs")}


# --- layers --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(layer_tables(), st.integers(0, 4))
def test_cells_hold_the_average_of_the_layers_in_them(layers, k):
    found = layered(*layers).plane(k)
    # Slices of a quarter of a metre lie in one layer each: the oracle is exact.
    for name, value in brute_average(layers, 100 * k, 100 * (k + 1), n=400).items():
        assert_allclose(uniform_value(getattr(found, name)), value, rtol=1e-9, err_msg=name)


@settings(max_examples=10)
@given(layer_tables(contrast=4, step=25, ratio=2), st.integers(0, 4))
def test_linear_profiles_are_averaged_too(layers, k):
    layers = [*layers, replace(layers[-1], vp=layers[-1].vp * 1.3)]  # a jump at the last depth
    found = layered(*layers, interpolation="linear").plane(k)
    brute = brute_average(layers, 100 * k, 100 * (k + 1), linear=True, n=20_000)
    for name, value in brute.items():
        assert_allclose(uniform_value(getattr(found, name)), value, rtol=1e-5, err_msg=name)


@settings(max_examples=50)
@given(layer_tables(), st.integers(0, 1990))
def test_cutting_a_layer_in_two_changes_nothing(layers, eighths):
    depth = eighths / 4 + 1 / 8
    above = [layer for layer in layers if layer.top < depth]
    below = [layer for layer in layers if layer.top > depth]
    cut = [*above, replace(above[-1], top=depth), *below]
    for k in range(5):
        a, b = layered(*layers).plane(k), layered(*cut).plane(k)
        for name, values in a.given().items():
            assert_allclose(b.given()[name], values, rtol=1e-10)


@settings(max_examples=50)
@given(layer_tables(), st.integers(0, 4))
def test_averages_lie_between_the_layers(layers, k):
    inside = [n for n in layers if n.top < 100 * (k + 1)]
    last = max(i for i, n in enumerate(inside) if n.top <= 100 * k)
    found = layered(*layers).plane(k)
    for speed in ("vp", "vs"):
        values = [n.rho * getattr(n, speed) ** 2 for n in inside[last:]]
        modulus = uniform_value(found.rho * getattr(found, speed) ** 2)
        assert min(values) * (1 - 1e-9) <= modulus <= max(values) * (1 + 1e-9)


def test_a_cell_halved_by_the_loh1_interface_has_the_published_s_speed():
    # Layer over half-space of LOH.1 (Day et al. 2001, PEER project 1A01); S speed of the mixed cell
    # as in SW4's input files, where the half-space's vs is 3464 or sqrt(3) times 2000 m/s.
    found = layered(Layer(0.0, **SOIL), Layer(150.0, **ROCK)).plane(1)
    assert uniform_value(found.vs) == pytest.approx(2437.56, abs=0.1)
    assert uniform_value(found.rho) == pytest.approx(2650.0)


def test_cells_inside_one_layer_hold_it_to_the_bit():
    medium = layered(Layer(0.0, **SOIL), Layer(200.0, **ROCK))
    for k, expected in enumerate([SOIL, SOIL, ROCK, ROCK, ROCK]):
        assert {name: uniform_value(v) for name, v in medium.plane(k).given().items()} == expected


def test_an_interface_that_misses_a_face_by_rounding_leaves_no_sliver():
    for error in (-1e-12, 1e-12):
        medium = layered(Layer(0.0, **SEA), Layer(300 * (1 + error), **ROCK))
        assert [uniform_value(medium.plane(k).vs) for k in range(5)] == [
            0,
            0,
            0,
            ROCK["vs"],
            ROCK["vs"],
        ]


def test_a_cell_with_some_water_is_a_fluid():
    medium = layered(Layer(0.0, **SEA), Layer(130.0, **ROCK))
    found = medium.plane(1)
    p_modulus = 1 / sum(share / (m["rho"] * m["vp"] ** 2) for share, m in ((0.3, SEA), (0.7, ROCK)))
    assert uniform_value(found.vs) == 0
    assert uniform_value(found.rho) == pytest.approx(0.3 * 1025 + 0.7 * 2700)
    assert uniform_value(found.rho) * uniform_value(found.vp) ** 2 == pytest.approx(p_modulus)


def test_water_needs_no_meaningful_qs():
    sea = Layer(0.0, **SEA, qp=1e5, qs=0.0)
    medium = layered(sea, Layer(100.0, **ROCK, qp=400.0, qs=200.0))
    found = medium_statistics(medium)
    assert (found.qs_min, found.qp_min) == (200.0, 400.0)


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


def test_negative_lambda_can_be_mixed_with_positive():
    auxetic = {"vp": 1300.0, "vs": 1000.0, "rho": 2000.0}
    found = layered(Layer(0.0, **auxetic), Layer(250.0, **ROCK)).plane(2)
    assert find_unphysical(found) is None


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


@settings(max_examples=100)
@given(st.text(alphabet="kmgs/*^.-() 19", max_size=12))
def test_any_unit_gives_a_factor_or_an_input_error(unit):
    try:
        assert unit_factor(unit, "m", "here") > 0
    except InputError as error:
        assert "here: unit" in str(error)
