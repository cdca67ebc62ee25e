"""Amplitudes and phases of oscillations that recorders fit along with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from groundswell.backends import Backend, host_threads, open_backend
from groundswell.case.recording import RecordSection
from groundswell.errors import CaseError, InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.grids.cartesian import Grid, Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.harmonics import basis_functions, fit
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField, Recording

DT, STEPS, SHAPE = 1e-7, 90, (3, 4, 5)
ALL = {"kind": "all"}


@given(
    st.lists(st.floats(0.5e6, 4e6), min_size=1, max_size=3, unique_by=lambda f: round(f / 3e5)),
    st.integers(0, 2**32 - 1),
)
def test_a_fit_recovers_amplitudes_and_phases(frequencies: list[float], seed: int) -> None:
    """Also where the samples do not span whole periods, and with a constant."""
    rng = np.random.default_rng(seed)
    times = DT * np.arange(10, 10 + STEPS)
    amplitudes, phases = rng.uniform(0.1, 2, (2, len(frequencies), 7))
    angles = 2 * np.pi * np.multiply.outer(frequencies, times)[:, None] + phases[:, :, None]
    samples = 0.7 + (amplitudes[:, :, None] * np.sin(angles)).sum(axis=0)
    basis = basis_functions(frequencies, times)
    found, angle = fit(basis.T @ samples.T, basis)
    assert_allclose(found, amplitudes, rtol=1e-6)
    assert_allclose(np.radians(angle), phases, atol=1e-6)


def test_a_fit_has_the_precision_of_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision is a rounding of the fit in double precision, whatever the chunks."""
    rng, times = np.random.default_rng(8), DT * np.arange(STEPS)
    basis = basis_functions([1e6, 2.3e6], times)
    sums = (basis.T @ rng.standard_normal((STEPS, 30))).astype("float32").reshape(5, 2, 3, 5)
    late = [0.0, 170.0]
    exact, turned = fit(sums.astype("float64"), basis, late)
    monkeypatch.setattr(host_threads, "CHUNK", 7)
    amplitudes, phases = fit(list(sums), basis, late)
    assert amplitudes.dtype == phases.dtype == np.float32
    assert_array_equal(amplitudes, exact.astype("float32"))
    assert_array_equal(phases, turned.astype("float32"))
    assert np.abs(turned).max() <= 180


START = -7 * DT  # runs may start before time 0, to which phases refer


def recording(steps: int = STEPS) -> Recording:
    nz, ny, nx = SHAPE
    domain = CartesianDomain(
        Part.whole(Grid((nx, ny, nz), (1.0,) * 3)), (0.0,) * 3, (-0.5,) * 3, (4.5, 3.5, 2.5)
    )
    fields = {
        "p": RecordableField("p", "Pa", "pressure"),
        "u": RecordableField("u", "m s-1", "velocity", time_offset=-0.5),
    }
    return Recording(domain, fields, "float64", DT, steps=steps, start=START)


def section(**keys: Any) -> RecordSection:
    given = {"fields": ["p", "u"], "where": ALL, "what": ["amplitude", "phase", "max"]}
    return RecordSection(**{**given, "frequencies": ["1 MHz"], "file": "cw.nc", **keys})


@pytest.mark.parametrize(
    "where", [ALL, {"kind": "points", "positions": [[1.3, 2.2, 0.6]], "method": "linear"}]
)
def test_recorders_fit_along_with_a_run(where: dict[str, Any], tmp_path: Path) -> None:
    """Two frequencies in p and u, whose samples are half a step earlier; every third step."""
    check(open_backend("cpu"), section(where=where), tmp_path)


@pytest.mark.gpu
def test_recorders_fit_on_a_gpu(gpu: Backend, tmp_path: Path) -> None:
    check(gpu, section(), tmp_path)


def check(backend: Backend, record: RecordSection, folder: Path) -> None:
    record = record.model_copy(update={"frequencies": (1e6, 2.2e6), "every": 3, "begin": 20})
    rng = np.random.default_rng(3)
    parts = [(f, *rng.uniform(0.5, 2, (2, 2))) for f in record.frequencies]
    fields = {name: backend.zeros(SHAPE, "float64") for name in "pu"}
    recorders = Recorders([record], recording(), fields, backend, SerialCommunicator())
    for step in range(STEPS):
        for n, (name, offset) in enumerate((("p", 0.0), ("u", -0.5))):
            t = START + (step + offset) * DT
            value = sum(a[n] * np.sin(2 * np.pi * f * t + phase[n]) for f, a, phase in parts)
            backend.assign(fields[name], np.full(SHAPE, value))
        for launch in [*recorders.launches, *recorders.tick]:
            launch()
    recorders.write(folder)
    with xr.open_dataset(folder / "cw.nc") as found:
        assert found["p_amplitude"].dims[0] == "frequency" and found["p_phase"].units == "degrees"
        for n, name in enumerate("pu"):
            for frequency, amplitude, phase in parts:
                at = found.sel(frequency=frequency)
                assert_allclose(at[f"{name}_amplitude"], amplitude[n], rtol=1e-9)
                assert_allclose(at[f"{name}_phase"], np.degrees(phase[n]), rtol=1e-9)
        assert found["p_max"].shape == found["p_amplitude"].shape[1:]


def test_the_sums_belong_to_checkpoints_and_to_the_memory() -> None:
    record = section()
    backend = open_backend("cpu")
    fields = {name: backend.zeros(SHAPE, "float64") for name in "pu"}
    state = Recorders([record], recording(), fields, backend, SerialCommunicator()).state()
    assert {f"record/cw.nc/sum{m}/{name}" for m in range(3) for name in "pu"} <= state.keys()
    with_sums = recording().device_bytes([record])
    plain = recording().device_bytes([section(what=["max"], frequencies=[])])
    assert with_sums - plain == 3 * 2 * 8 * np.prod(SHAPE)
    assert recording().file_bytes([record], STEPS) == 3 * 2 * 8 * np.prod(SHAPE)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"frequencies": []}, "frequencies.*is required for what"),
        ({"what": ["max"]}, "frequencies = .*: is for what"),
        ({"frequencies": ["1 MHz", 1e6]}, "is in the list already"),
        ({"frequencies": ["0 Hz"]}, "greater than 0"),
    ],
)
def test_contradictory_keys_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        section(**keys)


@pytest.mark.parametrize(
    "keys",
    [
        {"frequencies": [5e4]},  # less than a period
        {"frequencies": [1e6, 1.001e6]},  # closer than the time resolves
        {"frequencies": [5e6]},  # two samples per period
        {"begin": STEPS - 2},
    ],
)
def test_samples_that_determine_no_amplitude_are_refused(keys: dict[str, Any]) -> None:
    record = section().model_copy(update=keys)
    with pytest.raises(InputError, match=r"amplitudes at .* Hz cannot be found; record at least"):
        recording().require_samples([record], STEPS)
