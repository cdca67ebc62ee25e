"""Response spectra: the kernel against NumPy, pyrotd and fine integration; symmetries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend

from groundswell.backends import Backend
from groundswell.backends.cpu import CpuBackend
from groundswell.seismology.intensity.motion import acceleration, oversampled
from groundswell.seismology.intensity.oscillator import respond, squared_frequencies, step_changes
from groundswell.seismology.intensity.rotation import rotated_peaks, rotd
from groundswell.seismology.intensity.spectra import PER_PERIOD, Oscillators, ResponseSpectra

PERIODS = np.array([0.08, 0.4, 1.0, 5.0])
H = 0.02


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


def velocity(seed: int, stations: int = 3, samples: int = 400) -> np.ndarray:
    """Random motion that begins at rest, (stations, 3, samples), m/s."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(stations, 3, samples)) * np.hanning(samples)
    smooth = np.apply_along_axis(np.convolve, -1, noise, np.hanning(11) / 5, "same")
    return np.asarray(smooth - smooth[..., :1])


def in_numpy(motion: np.ndarray, h: float) -> ResponseSpectra:
    moved = respond(acceleration(motion, h), step_changes(PERIODS, 0.05, h))
    moved *= squared_frequencies(PERIODS)[:, None, None, None]
    components = np.abs(moved).max(axis=-1).transpose(1, 2, 0)
    return ResponseSpectra(components, rotated_peaks(moved[:, :, :2]).swapaxes(0, 1))


def check_kernel(backend: Backend, motion: np.ndarray) -> None:
    found = Oscillators(PERIODS, 0.05, 1).spectra(motion, H, backend)
    wanted = in_numpy(motion, H)
    assert np.abs(found.components / wanted.components - 1).max() < 1e-12
    assert np.abs(found.turned / wanted.turned - 1).max() < 1e-12


@pytest.mark.parametrize("samples", [2, 64, 65, 400])  # one chunk, and parts of one
def test_the_kernel_agrees_with_numpy(cpu: CpuBackend, samples: int) -> None:
    check_kernel(cpu, velocity(1)[..., 150 : 150 + samples])


def test_the_kernel_for_gpus_agrees_with_numpy() -> None:
    check_kernel(EmulatedBackend(), velocity(2, stations=1)[..., 150:300])


@pytest.mark.gpu
def test_the_kernel_on_a_gpu_agrees_with_numpy(gpu: Any) -> None:
    check_kernel(gpu, velocity(3, stations=40))


def test_short_periods_are_oversampled(cpu: CpuBackend) -> None:
    """As dense as the shortest period needs, by powers of two, and each in its place."""
    motion = velocity(4)
    found = Oscillators(PERIODS).spectra(motion, H, cpu)
    for n, period in enumerate(PERIODS):
        factor = 2 ** max(0, int(np.ceil(np.log2(PER_PERIOD * H / period))))
        wanted = in_numpy(oversampled(motion, factor), H / factor)
        assert np.allclose(found.components[..., n], wanted.components[..., n], rtol=1e-12)
        assert np.allclose(found.turned[:, n], wanted.turned[:, n], rtol=1e-12)


def test_fine_integration_gives_the_same_spectrum(cpu: CpuBackend) -> None:
    """A tone burst in closed form, whose acceleration is known at any time.

    The default is within (2 pi / PER_PERIOD)^2 / 8 + ... of it; with steps of 1/6000 of the period
    the difference is below 1e-6.
    """
    t = H * np.arange(300)

    def speed(t: np.ndarray) -> np.ndarray:
        return np.exp(-(((t - 3) / 0.5) ** 2)) * np.sin(9 * t)

    period, fine = np.array([0.5]), 1.0 / 24000
    dense = np.arange(0, t[-1], fine)
    shaking = np.gradient(speed(dense), fine)  # second order: (w h)^2 / 6 < 1e-7
    moved = respond(shaking, step_changes(period, 0.05, fine))
    wanted = np.abs(moved).max() * squared_frequencies(period)[0]
    motion = np.stack([speed(t), 0 * t, -speed(t)])[None]
    usual = Oscillators(period).spectra(motion, H, cpu).components[0, 0, 0]
    assert usual == pytest.approx(wanted, rel=1e-3)
    exact = speed(np.arange(0, t[-1], period[0] / 6000))
    best = Oscillators(period, 0.05, 1).spectra(np.stack([exact] * 3)[None], period[0] / 6000, cpu)
    assert best.components[0, 0, 0] == pytest.approx(wanted, rel=1e-6)


# --- symmetries -----------------------------------------------------------------------------------


def test_turning_the_sensor_changes_no_rotd(cpu: CpuBackend) -> None:
    """A turn by whole degrees permutes the directions; components change."""
    motion = velocity(5)
    angle = np.radians(37)
    turned = motion.copy()
    turned[:, 0] = np.cos(angle) * motion[:, 0] + np.sin(angle) * motion[:, 1]
    turned[:, 1] = np.cos(angle) * motion[:, 1] - np.sin(angle) * motion[:, 0]
    first, then = (Oscillators(PERIODS).spectra(each, H, cpu) for each in (motion, turned))
    for percentile in (0, 50, 100):
        assert np.allclose(
            rotd(first.turned, percentile), rotd(then.turned, percentile), rtol=1e-11
        )
    assert not np.allclose(first.components[:, :2], then.components[:, :2], rtol=1e-2)


def test_spectra_scale_and_know_the_direction_of_time(cpu: CpuBackend) -> None:
    motion, oscillators = velocity(6), Oscillators(PERIODS)
    once, thrice, back = (
        oscillators.spectra(each, H, cpu).components
        for each in (motion, -3 * motion, motion[..., ::-1].copy())
    )
    assert np.allclose(3 * once, thrice, rtol=1e-12)
    assert np.abs(back / once - 1).max() > 0.02


def test_pyrotd_agrees(cpu: CpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """To 1e-6 for a record so dense that its lines are its waves.

    pyrotd multiplies the Fourier transform of acceleration by the transfer function of the
    oscillator. Its waves between samples are sines, ours lines, which lose (w h)^2 / 12; and its
    record repeats, so that ours must have come to rest at its end.
    """
    pyrotd = pytest.importorskip("pyrotd")
    monkeypatch.setattr(pyrotd, "processes", 1)
    h, samples = 5e-4, 2**18
    t = h * np.arange(samples)
    burst = np.exp(-(((t - 4) / 0.8) ** 2))
    ground = np.stack([burst * np.sin(3.1 * t), burst * np.cos(2.3 * t + 0.4), burst])
    periods = np.array([0.8, 2.5])
    # Velocity whose differences are that acceleration.
    motion = h * np.cumsum(ground, axis=1)[None]
    found = Oscillators(periods, 0.05, 1).spectra(motion, h, cpu)
    theirs = pyrotd.calc_rotated_spec_accels(
        h, *acceleration(motion[0, :2], h), 1 / periods, 0.05, percentiles=[50, 100]
    )
    for n, period in enumerate(periods):
        rows = theirs[np.isclose(theirs.osc_freq, 1 / period)]
        for percentile in (50, 100):
            [wanted] = rows.spec_accel[rows.percentile == percentile]
            assert rotd(found.turned[0, n], percentile) == pytest.approx(wanted, rel=1e-6)
