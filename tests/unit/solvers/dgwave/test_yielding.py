"""DG waves: rock that yields, against steps of the linear solver and the law in NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dg_problems import halve
from dg_yielding import YieldingBox
from emulated_backend import EmulatedBackend

from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.seismology.plasticity import DruckerPrager
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.solvers.dgwave.plasticity.rank import RankRock
from groundswell.solvers.dgwave.verification.boxes import Box, cubes, homogeneous

# Single precision loses digits of tau where it hardly exceeds the strength.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}
COUNTS = (3, 2, 2)


def media(places: Floats) -> list[Floats]:
    """Rock that varies, over a fluid floor."""
    depth = places[2].reshape(len(places[2]), -1).mean(axis=1)  # of elements
    fluid = depth.reshape(-1, *(1,) * (places.ndim - 2)) > 1.1
    vs = np.where(fluid, 0.0, 0.8 + 0.1 * np.sin(2 * places[0]))
    return [1.5 + 0.1 * np.cos(places[1]), vs, 1.2 + 0.1 * np.sin(places[2])]


def bend(points: Floats) -> Floats:
    """Bends the elements of a box."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x + 0.1 * np.sin(2 * z), y, z + 0.08 * np.sin(x) * np.cos(y)], axis=-1)


def boxes(
    degree: int = 2, upwind: float = 1.0, counts: tuple[int, int, int] = COUNTS
) -> dict[str, Box]:
    """Boxes of all kinds of elements, of the edge 1."""
    whole = cubes(counts, counts, (False, True, False))
    halved = halve(whole, np.arange(whole.count) % 5 == 1)
    return {
        "bricks": Box(whole, degree, media, upwind=upwind),
        "halved, nodes": Box(halved, degree, media, upwind=upwind, nodal=True),
        "curved": Box(whole, degree, media, upwind=upwind, deform=bend),
        "halved, curved, nodes": Box(halved, degree, media, nodal=True, deform=bend),
    }


def yielding(box: Box, dtype: str = "float64", seed: int = 1) -> YieldingBox:
    """A box with random strength and stress before the waves."""
    rng = np.random.default_rng(seed)
    shape = box.points.shape[1:]
    law = DruckerPrager(
        cohesion=rng.uniform(0.2, 2.0, shape),
        friction_angle=rng.uniform(0.0, 60.0, shape),
        relaxation_time=0.7 * box.dt,
    )
    initial = rng.normal(0, 0.4, (6, *shape))
    return YieldingBox(box, law, initial, rng.uniform(0, 0.3, shape), dtype)


def check(box: Box, backend: Backend, dtype: str = "float64") -> None:
    """Two steps: the second one depends on the traces after the first."""
    problem, u = yielding(box, dtype), box.random_fields(3)
    found, strain = problem.advanced(backend, u, 2)
    expected, expected_strain = problem.expected(u, 2)
    for values, exact in ((found, expected), (strain, expected_strain)):
        assert np.abs(values - exact).max() < TOLERANCE[dtype] * np.abs(exact).max()
    part = (expected_strain[~box.fluid] > 0).mean()
    assert 0.2 < part < 0.95 and not strain[box.fluid].any()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", boxes())
def test_random_fields_relax_as_the_law_says(kind: str, dtype: str) -> None:
    check(boxes()[kind], open_backend("cpu"), dtype)


@pytest.mark.parametrize("kind", ["bricks", "halved, curved, nodes"])
def test_the_kernel_for_gpus_relaxes_alike(kind: str) -> None:
    check(boxes(degree=1, counts=(2, 1, 2))[kind], EmulatedBackend())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("degree", [1, 2, 4, 7, 9])
@pytest.mark.parametrize("kind", boxes())
def test_random_fields_on_a_gpu(gpu: Any, kind: str, degree: int, dtype: str) -> None:
    check(boxes(degree)[kind], gpu, dtype)


@pytest.mark.parametrize("kind", boxes())
def test_strong_rock_is_linear_bit_by_bit(kind: str) -> None:
    box, backend = boxes()[kind], open_backend("cpu")
    weak, u = yielding(box), box.random_fields(3)
    strong = replace(weak, law=replace(weak.law, cohesion=np.inf))
    found, strain = strong.advanced(backend, u, 3)
    linear = box.start(backend, u)
    for _ in range(3):
        in_order(linear.step)()
    assert (found == backend.to_host(linear.u)).all() and not strain.any()


def test_an_initial_stress_without_deviator_needs_fewer_values() -> None:
    box, backend = boxes()["bricks"], open_backend("cpu")
    problem, u = yielding(box), box.random_fields(3)
    problem.initial[3:] = 0
    problem.initial[:3] = problem.initial[0]
    expected = problem.advanced(backend, u, 2)
    table, given = problem.rock.table[:, :2], vars(problem.rock)
    short = RankRock(**{**given, "table": table, "is_sheared": False})
    problem.__dict__["rock"] = short
    for found, exact in zip(problem.advanced(backend, u, 2), expected, strict=True):
        assert np.abs(found - exact).max() < 1e-13


# --- closed forms ---------------------------------------------------------------------------------

ROCK = HomogeneousMedium(vp=5000.0, vs=3000.0, rho=2700.0)
MU = ROCK.rho * ROCK.vs**2


def column(counts: tuple[int, int, int], periodic: tuple[bool, bool, bool]) -> Box:
    """Cubes of 100 m."""
    size = 100.0 * np.array(counts)
    return Box(cubes(counts, size, periodic), 3, homogeneous(ROCK))


@pytest.mark.parametrize("relaxation", [0.0, 2.5, 20.0])
def test_simple_shear_at_a_constant_rate_exceeds_the_strength_as_relaxation_lets_it(
    relaxation: float,
) -> None:
    """A gradient of velocity, until waves from the ends arrive.

    A step adds mu rate dt, and exp(-dt / Tv) of what exceeds the strength remains.
    """
    box = column((1, 1, 30), (True, True, False))
    rate, dt = 1e-3, box.dt
    time = relaxation * dt
    law = DruckerPrager(cohesion=20e3, friction_angle=30.0, relaxation_time=time)
    initial = np.zeros((6, *box.points.shape[1:]))
    initial[:3] = -30e3
    u = np.zeros((box.forest.count, 9, 64))
    u[:, 6] = rate * box.points[2]
    steps = int(1400.0 / ROCK.vp / dt)
    found, strain = YieldingBox(box, law, initial).advanced(open_backend("cpu"), u, steps)
    strength = 20e3 * np.cos(np.pi / 6) + 30e3 * 0.5
    linear = int(strength / (MU * rate * dt))
    trial, remembered = MU * rate * dt, float(law.remembered(dt))
    tau, plastic = 0.0, 0.0
    for _ in range(steps):
        lost = max(tau + trial - strength, 0.0) * (1 - remembered)
        tau, plastic = tau + trial - lost, plastic + lost / (2 * MU)
    assert steps > 3 * linear
    middle = np.abs(box.points[2] - 1500).max(axis=1) < 60
    assert found[middle, 4] == pytest.approx(tau, rel=1e-9)
    assert strain[middle] == pytest.approx(plastic, rel=1e-9)
    if relaxation:  # and as the differential equation of many short steps says
        since = steps * dt - strength / (MU * rate)
        smooth = strength + MU * rate * time * (1 - np.exp(-since / time))
        assert tau == pytest.approx(smooth, abs=MU * rate * dt)


def test_triaxial_compression_yields_at_the_axial_stress_of_the_criterion() -> None:
    """sqrt(3) tau = s3 - s1 and a lateral stress s3 that stays; yield at tau = Y."""
    cohesion, angle, lateral, fluid = 5e6, 35.0, -40e6, 10e6
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    # d / sqrt(3) = c cos - (lateral - d / 3 + fluid) sin for a difference d of stresses
    yields = (cohesion * cosine - (lateral + fluid) * sine) / (1 / np.sqrt(3) - sine / 3)
    box = column((1, 1, 1), (True, True, True))
    law = DruckerPrager(cohesion=cohesion, friction_angle=angle)
    initial = np.zeros((6, *box.points.shape[1:]))
    initial[:3] = lateral
    problem = YieldingBox(box, law, initial, fluid)
    for axis, part in ((0, 1 - 1e-9), (1, 1 - 1e-9), (2, 1 + 1e-9), (0, 1.2)):
        u = np.zeros((box.forest.count, 9, 64))
        u[:, axis] = -part * yields
        found, strain = problem.advanced(open_backend("cpu"), u, 1)
        assert (strain > 0).all() == (strain > 0).any() == (part > 1)
        if part > 1:  # the mean stays, so that the strength is that of the load
            mean = lateral - part * yields / 3
            strength = cohesion * cosine - (mean + fluid) * sine
            tau = np.abs(found[:, (axis + 1) % 3] - found[:, axis]) / np.sqrt(3)
            assert tau == pytest.approx(strength, rel=1e-9)
