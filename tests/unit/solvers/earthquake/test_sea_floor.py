"""Boundaries of fluids: differences, sources and receivers stay within one phase."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.api import Model, build_case
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.solvers.earthquake.verification.simulation import without_layers

pytestmark = pytest.mark.each_value

H, FLOOR = 100.0, 6  # m, cells of water
WATER = {"vp": 1500.0, "vs": 0.0, "rho": 1025.0}
ROCK = {"vp": 4500.0, "vs": 2500.0, "rho": 2500.0}
ICE = {"vp": 3800.0, "vs": 1900.0, "rho": 917.0}
PULSE = {"kind": "gaussian", "sigma": 0.1, "delay": 0.5}
SHEAR_CELLS = {"sxy": (1, 2), "sxz": (0, 2), "syz": (0, 1)}  # axes (z, y, x) of edges on faces


def setup(layers: list[dict[str, float]], source: dict[str, Any] | None = None, **more: Any) -> Any:
    force = {"kind": "force", "force": [0, 0, 1e10], "x": 600.0, "y": 700.0, "depth": 900.0}
    return prepare(
        EarthquakeCase(
            grid={"size": [1600.0, 1400.0, 1500.0], "spacing": H},
            time={"duration": 4.0},
            medium={"kind": "layered", "layers": layers},
            source=[{**(source or force), "time_function": PULSE}],
            run={"precision": "double"},
            **more,
        )
    )


def sea(floor: float = FLOOR * H, **more: Any) -> Any:
    return setup([{"top": 0.0, **WATER}, {"top": floor, **ROCK}], **more)


@cache
def box(top: str, share: float, seed: int = 3) -> Earthquake:
    """A closed box, periodic along x and y, whose cells are random, a share of them fluid."""
    rng = np.random.default_rng(seed)
    shape = (13, 12, 14)
    vp = rng.uniform(3000, 4000, shape)
    vs = np.where(rng.random(shape) < share, 0.0, vp / rng.uniform(1.6, 2.2, shape))
    model = Model(vp, vs, rho=rng.uniform(1000, 2500, shape), spacing=(100.0, 120.0, 90.0))
    source = {"kind": "force", "force": [0, 0, 1.0], "x": 500.0, "y": 500.0, "depth": 300.0}
    case = build_case(
        model,
        [{**source, "time_function": PULSE}],
        duration=1.0,
        precision="double",
        boundary={"top": top, "sides": "periodic", "width": 1},
        output={"shaking_map": False},
    )
    return Earthquake(without_layers(prepare(case)), open_backend("cpu"))


def mean(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """Mean of each cell of a box and the cell before it."""
    before = np.roll(values, 1, axis)
    if axis == 0:
        before[0] = values[0]
    return (values + before) / 2


def put(solver: Earthquake, fields: dict[str, NDArray[Any]]) -> None:
    for name in (*VELOCITIES, *STRESSES):
        solver.fields[name].array[...] = 0
    for name, values in fields.items():
        solver.fields[name].interior[...] = values


def edge_stiffness(solver: Earthquake) -> dict[str, NDArray[Any]]:
    compliance = solver.materials["compliance"]
    found = {}
    for name, (a, b) in SHEAR_CELLS.items():
        found[name] = 1 / mean(mean(compliance, a), b)
    if solver.setup.ground.free_surface:
        found["sxz"][0] = found["syz"][0] = 0
    return found


def push(solver: Earthquake, stresses: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Velocities after one step from rest."""
    put(solver, stresses)
    in_order(solver.exchanges[1].launches)()
    in_order([*solver._mirror_stress(), *solver.update_velocities()])()
    return {name: solver.fields[name].interior.copy() for name in VELOCITIES}


@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_the_divergence_is_minus_the_transpose_of_the_gradient(top: str, share: float) -> None:
    """So energy is conserved in any medium of fluid and solid cells."""
    solver, rng = box(top, share), np.random.default_rng(5)
    lam, mu = solver.materials["lam"], 1 / solver.materials["compliance"]
    strain = {name: rng.normal(size=lam.shape) for name in STRESSES}
    spread = strain["sxx"] + strain["syy"] + strain["szz"]
    stress = {name: lam * spread + 2 * mu * strain[name] for name in STRESSES[:3]}
    stress |= {name: k * strain[name] for name, k in edge_stiffness(solver).items()}
    velocity = {name: rng.normal(size=lam.shape) for name in VELOCITIES}
    found = push(solver, stress)
    gained = 0.0
    for axis, name in zip((2, 1, 0), VELOCITIES, strict=True):
        mass = mean(solver.materials["rho"], axis)
        mass[0] /= 2 if name == "vz" and top == "free-surface" else 1
        gained += float((velocity[name] * mass * found[name]).sum())
    put(solver, velocity)
    in_order(solver.exchanges[0].launches)()
    in_order([*solver._mirror_velocity(), *solver.update_stresses()])()
    worked = sum(float((strain[n] * solver.fields[n].interior).sum()) for n in STRESSES)
    assert gained == pytest.approx(-worked, rel=1e-11)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_stresses_of_the_solid_do_not_push_the_fluid(share: float) -> None:
    """Permanent stresses of the ground would push it for ever."""
    solver, rng = box("absorbing", share), np.random.default_rng(6)
    fluid = np.isinf(solver.materials["compliance"])
    stress = {name: np.where(fluid, 0, rng.normal(size=fluid.shape)) for name in STRESSES[:3]}
    stress |= {
        n: np.where(k > 0, rng.normal(size=k.shape), 0) for n, k in edge_stiffness(solver).items()
    }
    velocity = push(solver, stress)
    for axis, name in zip((2, 1, 0), VELOCITIES, strict=True):
        within = fluid & np.roll(fluid, 1, axis)
        if axis == 0:
            within[0] = False
        assert within.any()
        assert np.abs(velocity[name][within]).max() < 1e-14 * np.abs(velocity[name]).max()


def test_media_without_fluid_have_no_additional_kernels() -> None:
    rock = Earthquake(setup([{"top": 0.0, **ROCK}]), open_backend("cpu"))
    assert rock.setup.ground.phases is None and not rock.sea_floor.terms
    wet = Earthquake(sea(), open_backend("cpu"))
    assert len(wet.timed_step()) == len(rock.timed_step()) + 2


# --- receivers ------------------------------------------------------------------------------------


def rows_of(found: Any, depth: float) -> list[set[int]]:
    """Rows with weights in the stencils of vx, vy and vz."""
    stencils = found.ground.interpolation.velocity_stencils((777.0, 555.0, depth))
    return [{k for (_, _, k), _ in stencil.points()} for stencil in stencils]


@pytest.mark.parametrize("floor", [6.0, 5.7, 6.25])
def test_receivers_on_the_sea_floor_are_in_the_ground(floor: float) -> None:
    first = round(floor)
    for depth in (floor, floor + 0.1, floor + 0.5, floor + 0.9):
        x, y, z = rows_of(sea(floor * H), depth * H)
        assert min(x) >= first and min(y) >= first and min(z) >= first
    for depth in (floor - 0.1, floor - 1.5):
        x, y, z = rows_of(sea(floor * H), depth * H)
        assert max(x) < first and max(y) < first and max(z) <= first


def test_fields_that_are_linear_in_a_phase_are_interpolated_exactly() -> None:
    found = sea()
    for depth in (0.2, 1.6, 4.0, 5.2, 8.9):
        position = (777.0, 555.0, depth * H)
        for offset, stencil in zip(
            ((0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)),
            found.ground.interpolation.velocity_stencils(position),
            strict=True,
        ):
            x, y, z = found.grid.indices(position, offset)
            values = {
                cell: 2 * cell[0] - cell[1] + 3 * (cell[2] + offset[2])
                for cell, _ in stencil.points()
            }
            total = sum(weight * values[cell] for cell, weight in stencil.points())
            if depth > 1:  # horizontal motion near the surface is antisymmetric about it
                assert total == pytest.approx(2 * x - y + 3 * (z + offset[2]))


def test_the_surface_of_water_has_no_horizontal_motion() -> None:
    x, y, z = sea().ground.interpolation.velocity_stencils((777.0, 555.0, 0.0))
    assert not list(x.points()) and not list(y.points()) and list(z.points())


def test_axes_are_alike() -> None:
    found = sea()
    x, y, z = found.ground.interpolation.velocity_stencils((730.0, 530.0, FLOOR * H + 40))
    other_x, other_y, other_z = found.ground.interpolation.velocity_stencils(
        (530.0, 730.0, FLOOR * H + 40)
    )
    for one, other in ((x, other_y), (y, other_x), (z, other_z)):
        swapped = {(j, i, k): w for (i, j, k), w in other.points()}
        assert dict(one.points()) == pytest.approx(swapped)


# --- sources --------------------------------------------------------------------------------------


DOUBLE_COUPLE = {"kind": "double-couple", "strike": 20, "dip": 60, "rake": 30, "moment": 1e15}


def test_shear_moments_in_water_are_refused() -> None:
    place = {"x": 600.0, "y": 700.0}
    with pytest.raises(InputError, match="not isotropic"):
        sea(source={**DOUBLE_COUPLE, **place, "depth": 300.0})
    explosion = {"kind": "explosion", "moment": 1e15, **place, "depth": 300.0}
    assert sea(source=explosion).survey.sources
    for depth in (FLOOR * H, FLOOR * H + 1):
        assert sea(source={**DOUBLE_COUPLE, **place, "depth": depth}).survey.sources


@pytest.mark.parametrize("below", [0.0, 0.3, 0.5, 1.2, 2.9])
def test_moments_below_the_sea_floor_stay_in_the_solid(below: float) -> None:
    place = {"x": 600.0, "y": 700.0, "depth": (FLOOR + below) * H}
    solver = Earthquake(sea(source={**DOUBLE_COUPLE, **place}), open_backend("cpu"))
    for launch in solver._moments:
        solver.clock[0] = round(0.5 / solver.setup.dt)
        launch()
    for name in STRESSES:
        rows = np.flatnonzero(np.abs(solver.fields[name].interior).max(axis=(1, 2)))
        is_on_floor = name in ("sxz", "syz")
        assert rows.size or (is_on_floor and not below)  # shear stress vanishes there
        assert (rows >= FLOOR + is_on_floor).all()


# --- layers ---------------------------------------------------------------------------------------


def test_layers_beside_ice_on_water_damp_along_all_axes() -> None:
    found = setup(
        [{"top": 0.0, **ICE}, {"top": 300.0, **WATER}, {"top": 700.0, **ROCK}],
    )
    ratios = found.absorption.side_damping_ratios
    assert (ratios[:7] >= 0.03).all() and not ratios[7:].any()
    assert sea().absorption.side_damping_ratios.max() < 0.001
