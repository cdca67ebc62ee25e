"""The reference of discontinuous Galerkin kernels: fluxes, conservation, sources, steps."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from dg_bricks import Boundary, Bricks, Coarser, Finer, Neighbour, equal, lattice
from dg_energy import Coordinates, energy, random_state
from dg_meshes import homogeneous, interface, random_medium
from dg_scheme import ON_FACE, Scheme, Trace, advanced, corrections, step_limit
from dg_sources import force_source, moment_source, pressure_source

from groundswell.arrays import Floats

pytestmark = pytest.mark.each_value


SMALL = equal((2, 1, 1))


def integral(scheme: Scheme, f: Floats) -> Floats:
    """Of each field over the mesh."""
    return (scheme.weights[:, None] * f).sum(axis=(-5, -3, -2, -1))


# --- neighbours -----------------------------------------------------------------------------------


def test_neighbours_of_equal_bricks() -> None:
    bricks = equal((3, 2, 1), reflections=(-1, 0, None, None, 1, 1))
    index = {tuple(low): n for n, low in enumerate(bricks.low)}
    at = [index[place] for place in ((0, 0, 0), (1, 0, 0), (1, 1, 0))]
    assert bricks.faces[at[1]] == [
        Neighbour(at[0]),
        Neighbour(index[2, 0, 0]),
        *[Neighbour(at[2])] * 2,
        *[Boundary(1)] * 2,
    ]
    assert bricks.faces[at[0]][0] == Boundary(-1)


def test_quarters_of_a_face_count_along_the_lower_axis_first() -> None:
    bricks = interface(1)
    quarters = [[0, 2, 0], [1, 2, 0], [0, 2, 1], [1, 2, 1]]
    finer = Finer(tuple(bricks.low.tolist().index(low) for low in quarters))
    assert bricks.faces[0] == [*[Neighbour(0)] * 2, finer, finer, *[Neighbour(0)] * 2]
    for quarter, element in enumerate(finer.elements):
        assert bricks.faces[element][2] == bricks.faces[element][3] == Coarser(0, quarter)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_traces_on_quarters(axis: int) -> None:
    bricks, face = interface(axis), 2 * axis + 1
    scheme = homogeneous(bricks, 3, (1, 1, 1))
    along = (np.arange(3) != axis).reshape(3, 1, 1, 1)

    def at(element: int, face: int) -> Trace:
        """Cubics and a linear impedance."""
        x, y, z = bricks.positions(3)[:, element][ON_FACE[face]] * along
        cubics = np.stack([x**3 - y, x * y * z + y**3, z**3 * y**2 + x**2])
        return Trace(cubics, 2 - cubics, np.stack([1 + x + 2 * y + 3 * z] * 3))

    finer = bricks.faces[0][face]
    assert isinstance(finer, Finer)
    for quarter, element in enumerate(finer.elements):
        found, expected = scheme._quarter(at(0, face), axis, quarter), at(element, face ^ 1)
        for name, values in vars(expected).items():
            assert np.allclose(getattr(found, name), values, rtol=1e-13, atol=1e-14)


# --- states at faces ------------------------------------------------------------------------------


def trace(rng: np.random.Generator, zp: float, zs: float) -> Trace:
    """A side of an x face at one node."""
    T, v = rng.standard_normal((2, 3, 1, 1, 1))
    impedance = np.array([zp, zs, zs]).reshape(3, 1, 1, 1)
    return Trace(np.where(impedance > 0, T, 0.0), v, impedance)


def test_the_state_between_two_fluids() -> None:
    rng = np.random.default_rng(1)
    own, other = trace(rng, 2.0, 0.0), trace(rng, 0.5, 0.0)
    p, q = -own.traction[0], -other.traction[0]
    v, w = own.velocity[0], other.velocity[0]
    change_T, change_v = corrections(own, other, 1.0)
    assert np.allclose(p - change_T[0], (0.5 * p + 2 * q + (v - w)) / 2.5, rtol=1e-14)
    assert np.allclose(v + change_v[0], (2 * v + 0.5 * w + (p - q)) / 2.5, rtol=1e-14)
    assert not change_T[1:].any()


def test_waves_that_leave_a_face_keep_their_invariants() -> None:
    rng = np.random.default_rng(2)
    own, other = trace(rng, 2.0, 1.5), trace(rng, 0.5, 0.3)
    change_T, change_v = corrections(own, other, 1.0)
    assert np.allclose(change_T, own.impedance * change_v)
    T, v = own.traction + change_T, own.velocity + change_v
    assert np.allclose(T - other.traction, -other.impedance * (v - other.velocity))


@pytest.mark.parametrize("reflection", [-1, -0.4, 0, 1])
def test_the_state_at_a_boundary(reflection: float) -> None:
    own = trace(np.random.default_rng(3), 2.0, 1.5)
    T, v = own.traction, own.velocity
    change_T, change_v = corrections(own, own.mirrored(reflection), 1.0)
    # Waves that enter carry T / Z + v, waves that leave carry T / Z - v.
    incoming = (T + change_T) / own.impedance + (v + change_v)
    outgoing = (T + change_T) / own.impedance - (v + change_v)
    assert np.allclose(incoming, reflection * outgoing, atol=1e-14)


@pytest.mark.parametrize("theta", [0, 0.4, 1])
def test_a_fluid_slips_along_a_solid(theta: float) -> None:
    rng = np.random.default_rng(4)
    solid, fluid = trace(rng, 2.0, 1.5), trace(rng, 1.0, 0.0)
    change_T, change_v = corrections(solid, fluid, theta)
    assert np.allclose(change_T[1:], -solid.traction[1:], rtol=1e-15)
    assert np.allclose(change_v[1:], -theta * solid.traction[1:] / 1.5, rtol=1e-14)
    assert not corrections(fluid, solid, theta)[0][1:].any()


@pytest.mark.parametrize("theta", [0, 0.4, 1])
def test_shear_of_a_solid_leaves_a_fluid_at_rest(theta: float) -> None:
    bricks = equal((1, 1, 2))
    scheme = Scheme(bricks, 3, *random_medium(bricks, 3, "mixed"), theta)
    u = random_state(scheme, 9)
    u[0] = 0  # the fluid
    for face in ((..., 0, slice(None), slice(None)), (..., -1, slice(None), slice(None))):
        u[1, 2][face], u[1, 8][face] = 0, 0
    assert not scheme.rates(u)[0].any()


# --- what is preserved ----------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [4, 9])
def test_uniform_states_stay(fields: int) -> None:
    bricks = interface(2)
    medium = random_medium(bricks, 3, "fluid" if fields == 4 else "solid", nodal=True)
    levels = np.arange(1.0, fields + 1)[:, None, None, None]
    for theta in (0, 1):
        scheme = Scheme(bricks, 3, *medium, theta)
        u = np.zeros((bricks.count, fields, 4, 4, 4)) + levels
        scale = np.abs(scheme.rates(random_state(scheme, fields))).max()
        assert np.abs(scheme.rates(u)).max() <= 1e-13 * scale


@pytest.mark.parametrize("fields", [4, 9])
def test_conservation(fields: int) -> None:
    """Momentum and strain, or p / lam, change at boundaries only."""
    bricks = interface(1)
    scheme = Scheme(bricks, 3, *random_medium(bricks, 3, "fluid" if fields == 4 else "solid"))
    rates = scheme.rates(random_state(scheme, fields))
    momentum = scheme.rho[:, None] * rates[:, -3:]
    if fields == 4:
        strain = rates[:, :1] / scheme.lam[:, None]
    else:
        trace = rates[:, :3].sum(axis=1, keepdims=True) / (3 * scheme.lam + 2 * scheme.mu)[:, None]
        deviator = rates[:, :3] - scheme.lam[:, None] * trace
        strain = np.concatenate([deviator, rates[:, 3:6]], axis=1) / scheme.mu[:, None]
    for density in (momentum, strain):
        scale = integral(scheme, np.abs(density)).max()
        assert np.abs(integral(scheme, density)).max() <= 1e-13 * scale


def test_a_fluid_among_the_elastic_equations_is_the_acoustic_one() -> None:
    bricks = interface(0)
    scheme = Scheme(bricks, 2, *random_medium(bricks, 2, "fluid"))
    four = random_state(scheme, 4)
    p = four[:, :1]
    nine = np.concatenate([-p, -p, -p, 0 * p, 0 * p, 0 * p, four[:, 1:]], axis=1)
    rates, expected = scheme.rates(nine), scheme.rates(four)
    assert np.array_equal(rates[:, 6:], expected[:, 1:])
    assert all(np.array_equal(rates[:, n], -expected[:, 0]) for n in range(3))
    assert not rates[:, 3:6].any()


def test_damping() -> None:
    scheme = Scheme(SMALL, 2, *random_medium(SMALL, 2, "solid"))
    sigma = np.random.default_rng(5).uniform(0, 3, (2, 3, 3, 3))
    u = random_state(scheme, 9)
    damped = replace(scheme, damping=sigma)
    assert np.allclose(damped.rates(u), scheme.rates(u) - sigma[:, None] * u, rtol=1e-13)


# --- sources --------------------------------------------------------------------------------------

PLACE = (0.3, -0.6, 1.0)


def moments(scheme: Scheme, element: int, f: Floats) -> Floats:
    """Integrals of f times 1, x, y, z, x y z over an element."""
    x, y, z = scheme.bricks.positions(scheme.degree)[:, element]
    products = np.stack([np.ones_like(x), x, y, z, x * y * z])
    return np.einsum("kji,mkji,...kji->...m", scheme.weights[element], products, f)


def test_moments_of_sources() -> None:
    scheme = Scheme(SMALL, 3, *random_medium(SMALL, 3, "solid", nodal=True))
    x, y, z = SMALL.corners[0, 1] + SMALL.sizes[1] * (np.array(PLACE) + 1) / 2
    delta = np.array([1, x, y, z, x * y * z])
    force, moment = np.array([1.0, 2, 3]), np.arange(1.0, 7)
    by_force = force_source(scheme, 1, PLACE, force)
    by_moment = moment_source(scheme, 1, PLACE, moment)
    by_pressure = pressure_source(scheme, 1, PLACE)
    assert not (by_force[0].any() or by_moment[0].any() or by_pressure[0].any())
    momentum = moments(scheme, 1, scheme.rho[1] * by_force[1])
    assert np.allclose(momentum[6:], force[:, None] * delta) and not momentum[:6].any()
    stress = moments(scheme, 1, by_moment[1])
    assert np.allclose(stress[:6], -moment[:, None] * delta) and not stress[6:].any()
    volume = moments(scheme, 1, by_pressure[1] / scheme.lam[1])
    assert np.allclose(volume[0], delta) and not volume[1:].any()


@pytest.mark.full
def test_a_pressure_source_in_open_space() -> None:
    """One octant of it: rigid walls through the source, p = 8 rho s'(t - r) / (4 pi r)."""
    bricks = equal((3, 3, 3), reflections=(1, 0) * 3)
    scheme = homogeneous(bricks, 4, (2, 2, 0))
    source = pressure_source(scheme, 0, (-1, -1, -1))
    end, steps = 1.06, 40

    def s(t: Any) -> Any:
        return np.exp(-(((t - 0.5) / 0.2) ** 2))

    u = advanced(lambda u, t: scheme.rates(u) + s(t) * source, 0 * source, end / steps, steps)
    r = np.sqrt((bricks.positions(4) ** 2).sum(axis=0))
    far = (bricks.low == 2).any(axis=1)[:, None, None, None]  # two elements off the source
    measured = far & (r < 0.85)  # echoes have not come as far
    p, late = u[:, 0][measured], end - r[measured]
    exact = 8 * 2 * s(late) * -50 * (late - 0.5) / (4 * pi * r[measured])
    assert np.linalg.norm(p - exact) <= 0.1 * np.linalg.norm(exact)


# --- the time step --------------------------------------------------------------------------------


def test_the_step_of_boxes() -> None:
    bricks = Bricks(lattice((2, 1, 1), (2, 0.5, 0.25)), SMALL.low, SMALL.width)
    scheme = homogeneous(bricks, 3, (2, 6, 1))
    assert step_limit(scheme, 1.6) == pytest.approx(1.6 * 3 / (1 + 2 + 4) / 2 / 16, rel=1e-14)


def step_matrix(z: Floats) -> Floats:
    """What a step does for dt G = z."""
    return advanced(lambda u, t: z @ u, np.eye(len(z)), 1.0, 1)


CASES = {
    "acoustic": (equal((2, 2, 1), (2, 2, 1)), (1, 1, 0), 4),
    "elastic": (equal((2, 1, 1), (2, 1, 1)), (1, 1, 1), 9),
    "refined": (interface(0), (1, 1, 0), 4),
}


def is_stable(case: str, theta: float, courant: float) -> bool:
    """Whether no state has grown after 512 steps."""
    bricks, medium, fields = CASES[case]
    scheme = homogeneous(bricks, 2, medium, theta)
    step = step_matrix(step_limit(scheme, courant) * Coordinates(scheme, fields).matrix())
    return bool(np.abs(np.linalg.matrix_power(step, 512)).max() < 1 + 1e-9)


@pytest.mark.parametrize(("theta", "courant"), [(1, 1.6), (0.5, 1.6), (0, 3)])
@pytest.mark.parametrize("case", CASES)
def test_stable_steps(case: str, theta: float, courant: float) -> None:
    assert is_stable(case, theta, courant)


@pytest.mark.parametrize(("case", "theta", "courant"), [("acoustic", 1, 3), ("elastic", 0, 4)])
def test_unstable_steps(case: str, theta: float, courant: float) -> None:
    assert not is_stable(case, theta, courant)


def test_energy_falls_with_the_fifth_power_of_the_step() -> None:
    scheme = homogeneous(equal((2, 2, 1), (2, 2, 1)), 2, (1, 1, 0), 0.0)
    x = scheme.bricks.positions(2)
    u = np.zeros((4, 4, 3, 3, 3))
    u[:, 0] = np.cos(pi * (x[0] + x[1]))

    def loss(steps: int) -> float:
        end = advanced(lambda u, t: scheme.rates(u), u, 1.6 / sqrt(2) / steps, steps)
        return 1 - energy(scheme, end) / energy(scheme, u)

    losses = [loss(steps) for steps in (16, 32)]  # C = 1.3, 0.6
    assert losses[1] > 0
    assert np.log2(losses[0] / losses[1]) == pytest.approx(5, abs=0.2)
