"""Sources of a case: signals of elements, and amplitudes on masks of anisotropic cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from ultrasound_cases import setup

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.verification import simulation as sim

INTERVAL, STEP = 1e-7, 4e-8  # s
POINTS = [{"kind": "point", "position": [3e-3 + 1e-3 * n, 5e-3]} for n in range(3)]
SAMPLES = np.random.default_rng(8).standard_normal((30, 3))


def emitted(**source: Any) -> NDArray[np.float64]:
    """What a source emits in each step at each point, (points, steps)."""
    content = {"pressure": 1e3, **source}
    (found,) = setup(source=[content], time__duration=50 * STEP, time__step=STEP).sources
    values = np.zeros((82 * 96, len(found.signals)))
    signals = np.asarray(found.signals).reshape(len(found.signals), -1)
    values[found.points] = found.matrix @ signals.T
    return values


def samples(values: Any) -> dict[str, Any]:
    return {"kind": "samples", "interval": INTERVAL, "values": values}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"weights": [0.3, -2.0, 0.0]},
        {"delays": [0.0, 1.3e-7, 4e-7]},
        {"weights": [1.0, 0.5, 2.0], "steering": [6e-3, 8e-3]},
    ],
)
def test_signals_of_elements_have_weights_and_delays(more: dict[str, Any]) -> None:
    """Together, elements emit what they emit as sources of their own."""
    found = emitted(elements=POINTS, signal=samples(SAMPLES), **more)
    centres = np.array([point["position"] for point in POINTS])
    delays = np.array(more.get("delays", [0.0] * 3))
    if "steering" in more:
        distances = np.linalg.norm(centres - more["steering"], axis=1)
        delays = (distances.max() - distances) / 1500.0
    expected = np.zeros_like(found)
    for n, point in enumerate(POINTS):
        alone = emitted(
            shape=point,
            signal=samples(SAMPLES[:, n]),
            weights=[more.get("weights", [1.0] * 3)[n]],
            delays=[delays[n]],
        )
        expected += alone
    assert np.abs(expected).max() > 0
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_delayed_samples_are_those_of_a_spline() -> None:
    signal, delay = samples(SAMPLES), 2.3e-7
    found = emitted(elements=POINTS, signal=signal, delays=[delay, 0.0, 0.0])
    first = emitted(elements=POINTS, signal=signal, weights=[1.0, 0.0, 0.0], delays=[delay, 0, 0])
    times = STEP * np.arange(50) - delay
    spline = CubicSpline(INTERVAL * np.arange(30), SAMPLES[:, 0])(times)
    wanted = np.where((times >= 0) & (times <= 29 * INTERVAL), spline, 0.0)
    row = first[np.abs(first).sum(axis=1).argmax()]
    assert np.allclose(
        row / np.abs(row).max(), wanted / np.abs(wanted).max() * np.sign(row @ wanted)
    )
    assert np.abs(found).max() > 0


def test_a_wrong_number_of_signals_is_refused() -> None:
    with pytest.raises(InputError, match="signal holds 2 signals for 3 elements"):
        emitted(elements=POINTS, signal=samples(SAMPLES[:, :2]))


# --- values that are set -------------------------------------------------------------------------


def test_points_whose_values_are_set_are_released_when_the_signal_ends() -> None:
    """k-Wave does so, too: afterwards, waves pass the points."""
    mask, n = {"kind": "mask", "indices": [20 * 50 + 12]}, 7
    held = samples([1.0] * n) | {"interval": STEP}
    content = {"shape": mask, "pressure": 1e3, "signal": held, "mode": "dirichlet"}
    found = setup(source=[content], time__duration=50 * STEP, time__step=STEP)
    assert len(found.sources[0].signals) == n
    ball = {"kind": "gaussian", "centre": [5e-3, 5e-3], "width": 1e-3, "pressure": 1e3}
    found = setup(source=[content], initial=ball, time__duration=50 * STEP, time__step=STEP)
    run = sim.build(found.case, open_backend("cpu"))
    series = sim.record(run, (0, 20, 12), 40)
    assert np.all(series[1 : n + 1] == np.float32(1e3)) and np.all(np.abs(series[n + 2 :]) > 1e-3)


def test_a_burst_sets_values_until_it_ends() -> None:
    shapes = [{"kind": "mask", "indices": [20 * 50 + 12]}]
    burst = {"kind": "burst", "frequency": 5e5, "cycles": 0.25}  # 0.5 us
    content = {"shape": shapes[0], "pressure": 1e3, "signal": burst, "mode": "dirichlet"}
    (found,) = setup(source=[content], time__duration=1.5e-6, time__step=1e-7).sources
    assert len(found.signals) == 6
    (kept,) = setup(
        source=[content | {"mode": "additive"}], time__duration=1.5e-6, time__step=1e-7
    ).sources
    assert len(kept.signals) == 15


# --- masks of anisotropic cells -------------------------------------------------------------------


def amplitude(axis: int, mode: str) -> float:
    """Pressure of the wave from a plane of points across an axis, relative to the source's."""
    frequency, spacing, n = 250e3, [5e-4, 8e-4], [8, 8]
    n[axis] = 60
    region = np.zeros(n[::-1], bool)
    region[(slice(None), 30) if axis == 0 else (30, slice(None))] = True
    case = sim.make_case(
        grid={"points": n, "spacing": spacing},
        boundary={"width": [20 if a == axis else 0 for a in range(2)]},
        source=[
            {
                "shape": {"kind": "mask", "indices": np.flatnonzero(region).tolist()},
                "pressure": 1e3,
                "mode": mode,
                "signal": {"kind": "sine", "frequency": frequency, "ramp": 2},
            }
        ],
        time={"duration": 200 * 2e-7, "step": 2e-7},
    )
    found = sim.build(case, open_backend("cpu"))
    sim.advance(found, 160)
    place = (0, 0, 50) if axis == 0 else (0, 50, 0)
    series = sim.record(found, place, 40)
    return float(np.abs(sim.harmonics(series[:, None], 20)[0, 0]) / 1e3)


@pytest.mark.parametrize("axis", [0, 1])
def test_planes_of_anisotropic_cells_emit_the_pressure_of_the_source(axis: int) -> None:
    assert amplitude(axis, "additive") == pytest.approx(1.0, abs=2e-3)


def test_masks_without_a_normal_cause_a_warning_on_anisotropic_cells() -> None:
    corner = {"kind": "mask", "indices": [0, 1, 50]}
    source = {"pressure": 1e3, "signal": {"kind": "burst", "frequency": "0.5 MHz", "cycles": 3}}
    sources = [source | {"shape": corner}, source | {"shape": corner | {"indices": [4, 5, 6]}}]
    (warning,) = warnings_of(setup(source=sources, grid__spacing=["0.25 mm", "0.3 mm"]))
    assert warning.startswith("source[0] is a mask that does not lie in one plane of points")
    assert warnings_of(setup(source=sources)) == []
