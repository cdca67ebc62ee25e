"""Time functions against quadrature, closed forms and their own definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfinv

from groundswell.errors import InputError
from groundswell.seismology.sources.spectra import corner_frequency
from groundswell.seismology.sources.time_functions import (
    Brune,
    Cosine,
    Gaussian,
    Ricker,
    Table,
    TimeFunction,
    Trapezoid,
    Triangle,
)

rng = np.random.default_rng(1970)

KINDS = {
    "brune": Brune,
    "gaussian": Gaussian,
    "ricker": Ricker,
    "cosine": Cosine,
    "triangle": Triangle,
    "trapezoid": Trapezoid,
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "brune": {"rise": 0.1},
    "gaussian": {"sigma": 0.06},
    "ricker": {"frequency": 2.5},
    "cosine": {"rise": 0.7},
    "triangle": {"rise": 0.3},
    "trapezoid": {"duration": 0.4},
}
ALL = pytest.mark.parametrize("kind", PARAMETERS)


def make(kind: str, **more: Any) -> TimeFunction:
    return KINDS[kind](**PARAMETERS[kind], **more)


def integrate(function: TimeFunction, end: float) -> float:
    middle = (function.start + function.end) / 2
    return quad(function, 0, end, points=[middle], limit=500, epsabs=1e-12)[0]


@ALL
def test_centroids_are_where_they_are_given(kind: str) -> None:
    """The centroid of the magnitude of the moment rate, from samples; tails are cut at 1e-6."""
    centroid = rng.uniform(-2, 2)
    function = make(kind, centroid=centroid)
    t = np.linspace(function.start, function.end, 200_001)
    sizes = np.abs(function(t))
    assert (t @ sizes) / sizes.sum() == pytest.approx(centroid, abs=1e-4 * function.support)
    assert function.centroid_time == centroid
    same = make(kind, onset=function.start)
    assert same.centroid_time == pytest.approx(centroid)
    np.testing.assert_array_equal(same(t), function(t))


def test_the_centroid_of_a_table_is_that_of_its_magnitude(tmp_path: Path) -> None:
    file = tmp_path / "table.txt"
    file.write_text("0 0\n1 3\n2 0\n3 0\n4 -3\n5 0\n")  # two triangles, at 1 and 4 s
    function = Table(file=file, centroid=0.0)
    assert function.start == pytest.approx(-2.5) and function(1.5) == pytest.approx(-3.0)


@ALL
def test_the_moment_rate_integrates_to_the_stated_share(kind: str) -> None:
    function = make(kind, onset=rng.uniform(0, 1))
    assert integrate(function, function.end) == pytest.approx(function.integral, abs=2e-6)
    assert function.integral == (0.0 if kind == "ricker" else 1.0)


@ALL
def test_the_amplitude_peaks_at_one(kind: str) -> None:
    t = np.linspace(0, make(kind).end, 200_001)
    assert make(kind).amplitude(t).max() == pytest.approx(1.0, abs=1e-7)


@ALL
def test_nothing_happens_before_the_onset_and_little_after_the_duration(kind: str) -> None:
    early, late = make(kind), make(kind, onset=0.4)
    t = np.linspace(-1, 5, 6001)
    np.testing.assert_allclose(late(t), early(t - 0.4), atol=1e-10)
    assert not late(t[t < 0.4]).any()
    assert late.end == pytest.approx(early.end + 0.4)
    assert not late(t[t > late.end]).any()
    # What is cut off, at either end, is below single precision of the peak.
    ends = early.amplitude([0.0, early.end])
    assert np.abs(ends).max() < 2e-6


def test_brune_is_the_published_pulse() -> None:
    t = rng.uniform(0, 1.5, 50)
    np.testing.assert_allclose(make("brune")(t), t / 0.1**2 * np.exp(-t / 0.1), rtol=1e-12)


def test_gaussian_is_a_normal_density_six_sigma_late() -> None:
    t = rng.uniform(0, 0.7, 50)
    density = np.exp(-((t - 0.36) ** 2) / (2 * 0.06**2)) / np.sqrt(2 * np.pi * 0.06**2)
    np.testing.assert_allclose(make("gaussian")(t), density, rtol=1e-12)


def test_ricker_releases_the_moment_once_and_takes_it_back() -> None:
    function = make("ricker")
    released = [integrate(function, end) for end in np.linspace(0, function.end, 400)]
    assert np.abs(released).max() == pytest.approx(1.0, abs=1e-3)
    assert released[-1] == pytest.approx(0.0, abs=1e-6)


def test_ricker_spectrum_peaks_at_its_frequency() -> None:
    step, count = 1e-3, 2**16
    spectrum = np.abs(np.fft.rfft(make("ricker")(step * np.arange(count))))
    assert np.fft.rfftfreq(count, step)[spectrum.argmax()] == pytest.approx(2.5, abs=0.02)


def test_pulses_at_known_times() -> None:
    np.testing.assert_allclose(make("cosine")([0, 0.175, 0.35, 0.7]) * 0.7, [0, 1, 2, 0], atol=1e-9)
    np.testing.assert_allclose(
        make("triangle")([0, 0.075, 0.15, 0.3]) * 0.3, [0, 1, 2, 0], atol=1e-9
    )


def test_a_trapezoid_with_its_own_ramps() -> None:
    function = Trapezoid(duration=1.0, rise=0.2, decay=0.5)
    np.testing.assert_allclose(function([0, 0.1, 0.35, 0.75, 1]) * 0.65, [0, 0.5, 1, 0.5, 0])
    moment = quad(lambda t: t * function(t), 0, 1, points=[0.2, 0.5])[0]
    assert function.middle == pytest.approx(moment, rel=1e-9)


def corner(function: TimeFunction, count: int = 4096) -> float:
    step = function.support / count
    return corner_frequency(function.shape(step * (np.arange(count) + 0.5)), step)


def test_corner_of_a_gaussian_and_of_brune() -> None:
    """Energies exp(-w^2 sigma^2), and 1 / (1 + w^2 T^2)^2 whose integral is known."""
    assert corner(make("gaussian")) == pytest.approx(erfinv(0.99) / (2 * np.pi * 0.06), rel=0.01)
    x = brentq(lambda x: x / (1 + x**2) + np.arctan(x) - 0.99 * np.pi / 2, 0.1, 10)
    assert corner(make("brune")) == pytest.approx(x / (2 * np.pi * 0.1), rel=0.01)


@pytest.mark.parametrize(("kind", "peak"), [("gaussian", 0.36), ("ricker", 0.6)])
def test_corner_of_a_source_that_the_run_cuts_off(kind: str, peak: float) -> None:
    """A step to zero at the end of the run would have energy far above the corner."""
    function = make(kind)

    def until(end: float, step: float = 1e-4) -> float:
        return corner_frequency(function(step * np.arange(round(end / step) + 1)), step)

    assert until(peak) == pytest.approx(corner(function), rel=0.02)
    for end in peak * np.linspace(0.8, 1.5, 8):
        assert until(end) < 3 * corner(function)
        assert until(end) == pytest.approx(until(end, 4e-4), rel=0.02)


@ALL
def test_corner_scales_with_the_inverse_of_time(kind: str) -> None:
    name, value = next(iter(PARAMETERS[kind].items()))
    slower = value / 3 if name == "frequency" else value * 3
    assert corner(KINDS[kind](**{name: slower})) == pytest.approx(corner(make(kind)) / 3)


def test_shapes_of_any_rank() -> None:
    t = rng.random((3, 4))
    assert make("brune")(t).shape == (3, 4)
    assert make("brune")(0.1).shape == ()


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (Brune, {}, "rise: is required"),
        (Brune, {"rise": 0.0}, "must be greater than 0"),
        (Brune, {"rise": float("nan")}, "is not a finite number"),
        (Brune, {"rise": "fast"}, "rise"),
        (Brune, {"rise": 1.0, "sigma": 1.0}, "sigma = 1.0: is not a key here"),
        (
            Brune,
            {"rise": 1.0, "onset": -1.0, "centroid": 1.0},
            "centroid .*cannot be given with onset",
        ),
        (Gaussian, {"sigma": 0.1, "delay": 0.3}, "at least 4 sigma"),
        (Ricker, {"frequency": 2.0, "delay": 0.1}, "at least 1 / frequency"),
        (Trapezoid, {"duration": 1.0, "rise": 0.6}, "rise .*must be together at most the duration"),
        (Table, {"file": "/nowhere/table.txt"}, "does not exist"),
    ],
)
def test_bad_parameters_are_refused(
    kind: type[TimeFunction], parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(**parameters)


# --- tables --------------------------------------------------------------------------------------


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_table_is_used_as_given(tmp_path: Path) -> None:
    file = write(tmp_path / "t.txt", "# t value\n0.5 0\n1.0 4  # peak\n\n2.0 0\n")
    function = Table(file=file, onset=1.0)
    t = [1.4, 1.5, 1.75, 2.0, 2.5, 3.0, 3.1]
    np.testing.assert_allclose(function(t), [0, 0, 2, 4, 2, 0, 0])
    np.testing.assert_allclose(function.amplitude(t), function(t))
    assert function.end == 3.0
    assert function.integral == pytest.approx(3.0)


def test_the_corner_of_a_table_is_that_of_its_curve(tmp_path: Path) -> None:
    brune = make("brune")
    t = np.linspace(0, brune.support, 3000)
    np.savetxt(tmp_path / "t.txt", np.stack([t, brune(t)], axis=1))
    table = Table(file=tmp_path / "t.txt")
    assert corner(table) == pytest.approx(corner(brune), rel=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "two rows or more"),
        ("0 1\n", "two rows or more"),
        ("0 1\n1 x\n", "line 2: 'x'"),
        ("0 1\n1 2 3\n", "line 2: expected two numbers"),
        ("0\n1 2\n3\n", "line 1: expected two numbers"),
        ("0 1\n1 nan\n", "line 2: 'nan'"),
        ("1 1\n0 1\n", "increase"),
        ("-1 1\n0 1\n", "from 0 or later"),
        ("0 0\n1 0\n", "all values are zero"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    table = Table(file=write(tmp_path / "t.txt", text))
    with pytest.raises(InputError, match=message):
        table(0.0)
