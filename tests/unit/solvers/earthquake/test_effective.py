"""Parameters of rows in layered media: integrals, oblique waves, fluids, ranks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layered_rows import COUNT, ROCK, SOFT, WATER, H
from numpy.testing import assert_allclose, assert_array_equal
from plane_wave_interface import GridInterface, Solid, exact_coefficients

from groundswell.backends import open_backend
from groundswell.grids.cartesian import GHOSTS, Grid, Layout, Part
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.effective import (
    UNCORRECTED,
    DepthRows,
    effective_rows,
    mean_of_two,
)
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.moduli import properties
from groundswell.solvers.earthquake.setup import Setup, prepare
from groundswell.solvers.earthquake.verification import simulation as sim

SANDSTONE = {"vp": 3000.0, "vs": 1500.0, "rho": 2200.0}


def rows_of(*layers: Layer, mirrored: bool = False, **options: Any) -> DepthRows:
    """The rows of the region of a grid without absorbing layers."""
    grid = Grid((1, 1, COUNT), (H, H, H))
    medium = Layered(grid.region, grid.spacing, layers, **options)
    rows = effective_rows(
        medium.profile, grid, lambda material: properties(material, None, 1.0), mirrored=mirrored
    )
    inner = slice(GHOSTS, -GHOSTS)
    return DepthRows({n: v[inner] for n, v in rows.properties.items()}, rows.corrections[inner])


def parameters(rows: DepthRows) -> dict[str, Any]:
    """What sums over depth average, from what the kernels read: two on faces, then at centres."""
    density, compliance_factor, along, across = rows.corrections.T
    rho, lam, compliance = (rows.properties[n] for n in ("rho", "lam", "compliance"))
    stiffness = lam + 2 / compliance + along
    return {
        "rho at vz": density[1:] * (rho[1:] + rho[:-1]) / 2,
        "1/mu at sxz": compliance_factor[1:] * (compliance[1:] + compliance[:-1]) / 2,
        "rho": rho,
        "1/M": 1 / stiffness,
        "lambda/M": lam / stiffness,
        "mu": 1 / compliance,
        "areal": lam + 2 / compliance + across - lam**2 / stiffness - 1 / compliance,
    }


def of_material(layer: Layer) -> dict[str, float]:
    """The same of a layer."""
    mu = layer.rho * layer.vs**2
    p_modulus = layer.rho * layer.vp**2
    lam = p_modulus - 2 * mu
    return {
        "rho at vz": layer.rho,
        "1/mu at sxz": 1 / mu,
        "rho": layer.rho,
        "1/M": 1 / p_modulus,
        "lambda/M": lam / p_modulus,
        "mu": mu,
        "areal": mu * (3 * lam + 2 * mu) / p_modulus,
    }


@st.composite
def similar_layers(draw: st.DrawFn) -> list[Layer]:
    """Layers of any thickness in the middle of the rows, of contrasts that nothing limits."""
    tops = draw(st.lists(st.floats(6, 18), min_size=1, max_size=4, unique=True))
    return [
        Layer(H * top, vs * draw(st.floats(1.7, 2.2)), vs, draw(st.floats(2000, 2600)))
        for top in [0, *sorted(tops)]
        for vs in [draw(st.floats(1500, 2200))]
    ]


@settings(max_examples=50)
@given(similar_layers())
def test_sums_of_rows_times_a_parabola_are_integrals(layers: list[Layer]) -> None:
    found = parameters(rows_of(*layers))
    edges = np.array([layer.top for layer in layers] + [COUNT * H]) / H
    for name, values in found.items():
        depth = np.arange(len(values)) + (1.0 if name in ("rho at vz", "1/mu at sxz") else 0.5)
        of_layers = [of_material(layer)[name] for layer in layers]
        low, high = depth[0] - 0.5, depth[-1] + 0.5
        for power in range(3):
            integrals = [
                (min(b, high) ** (power + 1) - max(a, low) ** (power + 1)) / (power + 1)
                for a, b in pairwise(edges)
            ]
            # At each end, a row gives a share of 1/24 to the next one outside, and gets one.
            shares = [
                of_layers[n] / 24 * (depth[n] ** power - outside**power)
                for n, outside in ((0, depth[0] - 1), (-1, depth[-1] + 1))
            ]
            wanted = np.dot(of_layers, integrals) + sum(shares)
            assert values @ depth**power == pytest.approx(wanted, rel=1e-9), (name, power)


def test_rows_of_one_material_are_not_touched() -> None:
    found = rows_of(Layer(0.0, **SOFT), Layer(10.3 * H, **ROCK))
    beside = {9, 10, 11, 12}
    for k in sorted(set(range(COUNT)) - beside):
        material = Layer(0.0, **(SOFT if k < 9 else ROCK))
        assert_array_equal(found.corrections[k], UNCORRECTED)
        assert found.properties["rho"][k] == material.rho
        assert found.properties["compliance"][k] == 1 / (material.rho * material.vs**2)
    assert (found.corrections[sorted(beside)] != UNCORRECTED).any(axis=1).all()


def test_where_a_profile_is_linear_rows_have_the_values_at_their_centres() -> None:
    """Of what varies linearly; the others bend little."""
    layers = [Layer(0.0, **SOFT), Layer(COUNT * H, SOFT["vp"], SOFT["vs"], 2650.0)]
    found = rows_of(*layers, interpolation="linear")
    inner = slice(3, -3)  # outside the region the profile is constant
    wanted = np.interp(np.arange(COUNT) + 0.5, [0, COUNT], [SOFT["rho"], 2650.0])
    assert_allclose(found.properties["rho"][inner], wanted[inner], rtol=1e-12)
    assert_allclose(1 / found.properties["compliance"][inner], (wanted * 1400**2)[inner], rtol=1e-8)
    assert_allclose(found.corrections[inner, :2], 1, atol=1e-4)


# --- oblique waves --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("above", "below", "limit"),
    [(SOFT, ROCK, 0.005), (ROCK, SOFT, 0.0005), (WATER, SANDSTONE, 0.02), (SANDSTONE, WATER, 0.06)],
)
def test_waves_are_reflected_and_transmitted_at_any_angle(
    above: dict[str, float], below: dict[str, float], limit: float
) -> None:
    """P and SV waves up to 60 degrees, 30 cells to the shortest wave.

    Amplitudes and phases. Isotropic averages over cells make them wrong by up to 0.1, and by up to
    0.2 beside water.
    """
    shortest = min(speed for m in (above, below) for speed in (m["vp"], m["vs"]) if speed)
    omega = 2 * np.pi * shortest / 30
    solids = Solid(**above), Solid(**below)
    for shift in (0.0, 0.2, 0.45, 0.5, 0.85):
        place = COUNT / 2 + shift
        rows = rows_of(Layer(0.0, **above), Layer(place * H, **below))
        grid = GridInterface(*solids, place, _of_rows(rows))
        for wave, speed in enumerate((above["vp"], above["vs"])[: 2 if above["vs"] else 1]):
            for angle in (0, 20, 40, 60):
                k = omega / speed * np.sin(np.radians(angle))
                exact = exact_coefficients(*solids, omega, k, wave)
                error = np.abs(grid.coefficients(omega, k, wave) - exact).max()
                assert error < limit, (shift, wave, angle)


def _of_rows(rows: DepthRows) -> dict[str, Any]:
    density, compliance_factor, along, across = rows.corrections.T
    rho, lam, compliance = (rows.properties[n] for n in ("rho", "lam", "compliance"))
    stiffness = lam + 2 / compliance
    return {
        "rho": rho,
        "rho at vz": density * mean_of_two(rho),
        "mu at sxz": 1 / (compliance_factor * mean_of_two(compliance)),
        "c11": stiffness + across,
        "c13": lam,
        "c33": stiffness + along,
    }


# --- free surfaces and fluids ---------------------------------------------------------------------


def share(distance: Any) -> Any:
    """Of a thin sheet in cells `distance` away: the weights of parabolas through three cells."""
    d = np.abs(distance)
    beside = np.where(d < 1.5, (1 - d) * (2 - d) / 2, 0.0)
    return np.where(d < 0.5, 1 - d**2, beside)


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("top", [0.3, 0.5, 0.8, 1.3])
def test_density_near_the_top_is_that_of_the_mirror_image_or_the_same(
    top: float, mirrored: bool
) -> None:
    rows = rows_of(Layer(0.0, **SOFT), Layer(top * H, **ROCK), mirrored=mirrored)
    sheets = (np.arange(-4000, 5000) + 0.5) / 1000
    depth = np.abs(sheets) if mirrored else np.maximum(sheets, 0)
    rho = np.where(depth < top, SOFT["rho"], ROCK["rho"])
    for name, place in {"rho": 0.5, "rho at vz": 1.0}.items():
        for k in range(2):
            wanted = (share(sheets - place - k) * rho).sum() / 1000
            assert parameters(rows)[name][k] == pytest.approx(wanted, rel=1e-6)
    at_top = rows.corrections[0, 0] * rows.properties["rho"][0]  # the row above it has the same
    if mirrored:
        assert at_top == pytest.approx((share(sheets) * rho).sum() / 1000, rel=1e-6)


@pytest.mark.parametrize("shift", [0.0, 0.25, 0.5, 0.6, 0.9])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_fluid_slips_between_two_rows_of_which_each_is_of_one_phase(
    shift: float, reverse: bool
) -> None:
    above, below = (ROCK, WATER) if reverse else (WATER, ROCK)
    top = 10 + shift
    rows = rows_of(Layer(0.0, **above), Layer(top * H, **below))
    compliance = rows.properties["compliance"]
    is_fluid = np.isinf(compliance)
    solid_first = 10 if shift < 0.5 or (shift == 0.5 and not reverse) else 11
    assert_array_equal(is_fluid, (np.arange(COUNT) >= solid_first) == reverse)
    at_faces = rows.corrections[1:, 1] * (compliance[1:] + compliance[:-1])
    assert_array_equal(np.isinf(at_faces), is_fluid[1:] | is_fluid[:-1])
    # Each phase keeps its mass in the sums of horizontal motion.
    for material, inside in ((WATER, is_fluid), (ROCK, ~is_fluid)):
        thickness = top if material is above else COUNT - top
        assert rows.properties["rho"][inside].sum() == pytest.approx(thickness * material["rho"])


def test_water_between_two_centres_lets_them_slip() -> None:
    water = Layer(10.7 * H, **WATER)
    rows = rows_of(Layer(0.0, **ROCK), water, Layer(11.2 * H, **ROCK))
    assert np.isfinite(rows.properties["compliance"]).all()
    assert_array_equal(np.flatnonzero(np.isinf(rows.corrections[:, 1])), [11])


# --- any layers -----------------------------------------------------------------------------------

LAYERS = st.lists(
    st.tuples(
        st.floats(0.05, 3),  # thickness, cells
        st.sampled_from([0.0, 1.0]),
        st.floats(100, 4500),
        st.floats(1.16, 5),
        st.floats(1000, 3500),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=100)
@given(LAYERS, st.booleans())
def test_any_layers_give_stable_materials(layers: Any, mirrored: bool) -> None:
    """Densities, compliances and strain energies are positive."""
    tops = H * np.cumsum([0.0, *(thickness for thickness, *_ in layers[:-1])])
    rows = rows_of(
        *(
            Layer(float(top), vs * ratio + 300, vs * solid, rho)
            for top, (_, solid, vs, ratio, rho) in zip(tops, layers, strict=True)
        ),
        mirrored=mirrored,
    )
    assert np.isfinite(rows.properties["rho"]).all() and (rows.properties["rho"] > 0).all()
    assert (rows.properties["compliance"] > 0).all()
    assert (rows.corrections[:, :2] > 0).all()
    found = parameters(rows)
    assert (found["1/M"] > 0).all()
    slack = 1e-9 / found["1/M"]
    assert (found["areal"] >= -slack).all() and (found["mu"] >= 0).all()


def test_a_floor_bounds_layers_before_they_are_mixed() -> None:
    cells, spacing = (1, 1, COUNT), (H, H, H)
    layers = Layer(0.0, **SOFT), Layer(10.3 * H, **ROCK)
    raised = Layer(0.0, **SOFT | {"rho": 2500.0}), layers[1]
    found, wanted = (
        effective_rows(
            medium.profile, Grid(cells, spacing), lambda m: properties(m, None, 1.0), mirrored=True
        )
        for medium in (
            Floor(Layered(cells, spacing, layers), rho=2500.0),
            Layered(cells, spacing, raised),
        )
    )
    assert_array_equal(found.corrections, wanted.corrections)
    assert_array_equal(found.properties["rho"], wanted.properties["rho"])


# --- ranks ----------------------------------------------------------------------------------------


def test_a_rank_has_its_part_of_the_rows() -> None:
    """To the bit, ghosts included; absorbing layers have the material at the region's edge."""
    case = sim.make_case(
        grid={"size": (600.0, 500.0, 1500.0), "spacing": H},
        time={"duration": 1.0},
        medium={"kind": "layered", "layers": [{"top": 0.0, **SOFT}, {"top": 730.0, **ROCK}]},
        boundary={"width": 4},
        source=[case_sections.SILENCE],
    )
    setup = prepare(case)
    whole = _materials(setup, Part.whole(setup.grid))
    assert_array_equal(whole.corrections[-6:], [UNCORRECTED] * 6)
    for first, depth in ((0, 7), (7, 3), (10, 9)):
        part = Part(setup.grid, (3, 0, first), (6, 13, depth))
        found = _materials(setup, part)
        assert_array_equal(found.corrections, whole.corrections[first : first + depth])
        for name, field in found.fields.items():
            within = whole.fields[name].array[first : first + depth + 4, :, 3:13]
            assert_array_equal(field.array, within)


def _materials(setup: Setup, part: Part) -> Materials:
    backend = open_backend("cpu")
    found = Materials(setup.ground, setup.dtype, backend, part, Layout(part.cells, 8))
    found.load()
    return found
