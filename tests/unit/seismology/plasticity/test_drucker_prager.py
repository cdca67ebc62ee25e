"""The law of yielding: closed forms, invariances, and the header against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from yielding_points import evaluate, random_rock, random_stress

from groundswell.backends import Backend
from groundswell.backends.cpu import CpuBackend
from groundswell.errors import InputError
from groundswell.seismology.plasticity import DruckerPrager
from groundswell.seismology.plasticity.drucker_prager import second_invariant, split

MU, DT = 30e9, 1e-3


def tensor_of(stress: Any) -> Any:
    """A stress (6, n) as tensors (n, 3, 3)."""
    xx, yy, zz, xy, xz, yz = stress
    rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return np.moveaxis(np.array(rows), -1, 0)


@pytest.mark.parametrize("time", [0.0, 0.004, 0.03])
def test_simple_shear_at_a_constant_rate(time: float) -> None:
    """tau = Y + mu rate dt e / (1 - e) in the end, and the exact exponential before."""
    rock = DruckerPrager(cohesion=5e6, friction_angle=30.0, relaxation_time=time)
    rate, pressure = 2e-3, 40e6
    stress, initial = np.zeros((6, 1)), np.array([[-pressure]] * 3 + [[0.0]] * 3)
    strength, e = rock.yield_strength(-pressure), float(rock.remembered(DT))
    history = []
    for _ in range(2000):
        stress[4] += MU * rate * DT
        stress, _ = rock.relax(stress, initial, DT)
        history.append(stress[4, 0])
    steady = strength + MU * rate * DT * e / (1 - e)
    assert history[-1] == pytest.approx(steady, rel=1e-12)
    first = int(np.argmax(np.array(history) > strength)) if time else 0
    if time:  # of each excess, e remains
        excess = np.array(history[first:]) - strength
        np.testing.assert_allclose(excess[1:], e * (excess[:-1] + MU * rate * DT), rtol=1e-9)


def test_triaxial_compression() -> None:
    """The axial stress at yield solves (s1 - s3) / sqrt(3) = c cos(phi) + (p - Pf) sin(phi)."""
    c, phi, lateral, fluid = 2e6, 35.0, 50e6, 20e6
    rock = DruckerPrager(cohesion=c, friction_angle=phi)
    sine, cosine = np.sin(np.radians(phi)), np.cos(np.radians(phi))
    excess = (c * cosine + (lateral - fluid) * sine) / (1 / np.sqrt(3) - sine / 3)
    for factor, yields in ((1 - 1e-9, False), (1 + 1e-9, True)):
        axial = -lateral - factor * excess
        stress = np.array([-lateral, -lateral, axial, 0, 0, 0])[:, None]
        _, lost = rock.relax(np.zeros((6, 1)), stress, DT, fluid)
        assert bool(np.any(lost)) == yields


def test_yielding_keeps_the_mean_and_the_direction_and_ends_at_the_strength() -> None:
    rng = np.random.default_rng(3)
    rock, initial = random_rock(rng, 500), random_stress(rng, 500)
    rock = DruckerPrager(cohesion=rock.cohesion, friction_angle=rock.friction_angle)
    stress = random_stress(rng, 500)
    found, lost = rock.relax(stress, initial, DT, 1e6)
    (mean, before), (kept, after) = split(stress + initial), split(found + initial)
    np.testing.assert_allclose(kept, mean, rtol=1e-12)
    np.testing.assert_allclose(before - after, lost, atol=1e-6)
    tau = np.sqrt(second_invariant(before))
    wanted = np.minimum(tau, rock.yield_strength(mean + 1e6))
    # 1e-12 of the pressure, whose rounding is that of the deviator
    np.testing.assert_allclose(np.sqrt(second_invariant(after)), wanted, atol=1e-12 * 1e9)
    assert (np.sum(before * after, axis=0) >= -1e-6 * tau).all()  # of 1e-7 Pa of rounding


def test_turned_stress_yields_alike() -> None:
    rng = np.random.default_rng(4)
    rock, stress = random_rock(rng, 300), random_stress(rng, 300)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turned = q @ tensor_of(stress) @ q.T
    as_rows = turned[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].T
    (found, _), (other, _) = (rock.relax(np.zeros_like(s), s, DT) for s in (stress, as_rows))
    whole = tensor_of(stress + found)
    np.testing.assert_allclose(tensor_of(as_rows + other), q @ whole @ q.T, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_header_agrees(cpu: Backend, dtype: str) -> None:
    check_header(cpu, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_header_agrees_on_a_gpu(gpu: Any, dtype: str) -> None:
    check_header(gpu, dtype)


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


def check_header(backend: Backend, dtype: str) -> None:
    rng = np.random.default_rng(5)
    rock = random_rock(rng, 4000)
    mean, deviator = split(random_stress(rng, 4000))
    j2 = second_invariant(deviator)
    found = evaluate(backend, rock, mean, j2, DT, dtype)
    wanted = rock.factor(mean, j2, DT)
    strength = rock.yield_strength(mean)
    # The strength is a difference of terms as large as the pressure, which cancel; r then has the
    # error of Y / tau, and where nothing yields in both, it is exactly 1.
    eps = np.finfo(dtype).eps
    scale = np.where(np.isfinite(rock.cohesion), rock.cohesion_cos + np.abs(mean), 1)
    finite = np.isfinite(strength)
    error = np.abs(found[1][finite] - strength[finite])
    assert (error <= 4 * eps * scale[finite]).all()
    assert (np.abs(found[0] - wanted) <= 4 * eps * (1 + scale / np.sqrt(j2))).all()
    clear = np.sqrt(j2) < strength - 8 * eps * scale
    assert clear.any() and (found[0][clear] == 1).all() and (found[0] <= 1).all()


def test_infinite_cohesion_never_yields(cpu: Backend) -> None:
    rock = DruckerPrager(cohesion=np.inf, friction_angle=30.0)
    mean, j2 = np.array([-1e9, 0.0, 1e9, 1e30]), np.array([0.0, 1e37, 1e30, 1e10])
    assert (evaluate(cpu, rock, mean, j2, DT, "f4")[0] == 1).all()


def test_what_is_no_number_stays_so(cpu: Backend) -> None:
    """Thus the run stops."""
    rock = DruckerPrager(cohesion=1e6, friction_angle=30.0)
    mean, j2 = np.array([np.nan, 0.0]), np.array([1e12, np.nan])
    assert np.isnan(evaluate(cpu, rock, mean, j2, DT)[0]).all()


@pytest.mark.parametrize(
    "given",
    [{"cohesion": -1.0}, {"cohesion": np.nan}, {"friction_angle": 90.0}, {"relaxation_time": -1.0}],
)
def test_parameters_out_of_range(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"DruckerPrager.{next(iter(given))} = .*: give "):
        DruckerPrager(**{"cohesion": 1e6, "friction_angle": 30.0, **given})
