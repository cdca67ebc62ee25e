"""Memory variables in 16 bits: how they are rounded, and runs with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import Items, Source, open_backend
from groundswell.errors import RunFailed
from groundswell.simulation.checkpoint import NAME, Progress, read_progress, restore, save
from groundswell.simulation.preparation import case_digest
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import MEMORIES, VELOCITIES, Earthquake

UNIT = 2.0**17
KERNELS = Path(__file__).parent / "kernels"
BACKEND = open_backend("cpu")
MODULE = BACKEND.compile(
    Source(KERNELS / "store_memory.h", {"HALF_MEMORY": True}, {"MEMORY_UNIT": UNIT})
)
rng = np.random.default_rng(31)


def stored(values: NDArray[Any], stresses: NDArray[Any] | float) -> NDArray[np.float16]:
    """Values in units as the kernel stores them."""
    given = np.asarray(values * UNIT, np.float32)
    noise = np.array(np.broadcast_to(stresses, given.shape), np.float32)
    found = np.zeros(given.shape, np.float16)
    MODULE.launch("store_memory", Items(given.size), found, given, noise, given.size)()
    return found


def ulp(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.spacing(np.abs(values).astype(np.float16)).astype(float)


# --- rounding -------------------------------------------------------------------------------------


def test_what_is_read_is_what_was_stored() -> None:
    bits = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    found = np.zeros(bits.shape, np.float32)
    MODULE.launch("read_memory", Items(bits.size), found, bits, bits.size)()
    with np.errstate(invalid="ignore"):  # signalling NaN
        np.testing.assert_array_equal(found, bits.astype(np.float32) * np.float32(UNIT))


@pytest.mark.parametrize("size", [1e-7, 1e-6, 1e-4, 1.0, 1e4])
def test_a_value_becomes_one_of_the_two_nearest_numbers(size: float) -> None:
    values = size * rng.uniform(-6, 6, 100_000)
    found = stored(values, rng.normal(size=values.size)).astype(float)
    assert (np.abs(found - values) <= 1.0001 * ulp(values)).all()
    assert (found > values).any() and (found < values).any()


@pytest.mark.parametrize("value", [3.3e-8, 2.7e-6, 0.70717, -1.0003, 1999.77, 47_000.9])
def test_rounding_is_right_on_average(value: float) -> None:
    """Small changes would be lost otherwise, and slow relaxation with them."""
    values = np.full(400_000, value)
    found = stored(values, 1e6 * rng.normal(size=values.size)).astype(float)
    place = ulp(values)[0]
    assert len(np.unique(found)) == 2
    error = (found.mean() - float(np.float32(value * UNIT)) / UNIT) / place
    assert abs(error) < 5 * 0.5 / np.sqrt(values.size)


def test_values_at_rest_are_rounded_to_the_nearest() -> None:
    values = np.concatenate([rng.uniform(-6e4, 6e4, 1000), 1e-6 * rng.normal(size=1000)])
    assert (stored(values, 0.0) == values.astype(np.float32).astype(np.float16)).all()


def test_zero_stays_zero() -> None:
    assert not stored(np.zeros(10_000), rng.normal(size=10_000)).any()


def test_values_beyond_the_range_become_infinite() -> None:
    found = stored(np.array([7e4, -7e4, 1e9, np.inf, -np.inf]), 1.0)
    assert np.isinf(found[:3]).all() and (found[:3] > 0).tolist() == [True, False, True]
    assert not np.isfinite(found).any()
    assert np.isnan(stored(np.array([np.nan]), 1.0)).all()


# --- runs -----------------------------------------------------------------------------------------


def make_case(**run: str) -> EarthquakeCase:
    """A fluid on a solid."""
    layers = [
        {"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qp": 50, "qs": 50},
        {"top": 400.0, "vp": 3000.0, "vs": 1700.0, "rho": 2300.0, "qp": 60, "qs": 30},
    ]
    source = {"kind": "double-couple", "strike": 20, "dip": 60, "rake": 30, "moment": 1e15}
    place = {"x": 1000.0, "y": 900.0, "depth": 900.0}
    return EarthquakeCase(
        time={"duration": 2.0, "step": 0.01},
        grid={"size": [2000.0, 1800.0, 1500.0], "spacing": 100.0},
        medium={"kind": "layered", "layers": layers},
        attenuation={"model": "constant"},
        boundary={"width": 4},
        source=[{**source, **place, "time_function": {"kind": "gaussian", "sigma": 0.1}}],
        output={"shaking_map": False},
        run=run,
    )


def make_solver(**run: str) -> Earthquake:
    return Earthquake(prepare(make_case(**run)), BACKEND)


def advance(solver: Earthquake, steps: int) -> Earthquake:
    solver.backend.capture(solver.step).replay(steps)
    return solver


def test_a_run_differs_little_from_one_in_full_precision() -> None:
    full, half = (advance(make_solver(memory=memory), 150) for memory in ("full", "half"))
    for name in VELOCITIES:
        wanted = full.fields[name].interior
        error = np.abs(half.fields[name].interior - wanted).max() / np.abs(wanted).max()
        assert 1e-7 < error < 5e-4
    unit = half.setup.memory_unit
    for name in MEMORIES:
        found = half.fields[name].interior
        assert found.dtype == np.float16
        wanted = full.fields[name].interior
        assert np.abs(found * np.float32(unit) - wanted).max() < 0.01 * np.abs(wanted).max()


def test_an_overflow_ends_the_run() -> None:
    """With memory variables in full precision, the same motion is finite."""
    for memory in ("full", "half"):
        solver = make_solver(memory=memory)
        for name in VELOCITIES:
            solver.fields[name].interior[...] = 1e12 * rng.normal(size=solver.part.shape)
        advance(solver, 3).enqueue_finite_check()
        if memory == "full":
            solver.check_health(3)
        else:
            with pytest.raises(RunFailed, match="not finite"):
                solver.check_health(3)


def test_a_run_resumes_bit_by_bit(tmp_path: Path) -> None:
    first = advance(make_solver(memory="half"), 40)
    save(tmp_path / NAME, BACKEND, first.state(), Progress(40, "digest", {}))
    then = make_solver(memory="half")
    restore(tmp_path / NAME, BACKEND, then.state(), read_progress(tmp_path / NAME, "digest"))
    advance(first, 40), advance(then, 40)
    assert first.fields["rxy"].interior.any()
    for name, field in first.fields.items():
        assert field.interior.tobytes() == then.fields[name].interior.tobytes(), name


def test_only_the_same_memory_variables_resume() -> None:
    digest = case_digest(make_case())
    assert case_digest(make_case(memory="half")) != digest
    assert case_digest(make_case(materials="classes")) == digest  # which changes no result


def test_a_case_without_attenuation_has_none() -> None:
    content = make_case(memory="half").model_dump() | {"attenuation": {"model": "none"}}
    assert not prepare(EarthquakeCase(**content)).has_half_memory
