"""Shifts, correlations, misfits and ratios of traces that differ in a known way."""

from __future__ import annotations

import numpy as np
import pytest
from observed_motion import motion

from groundswell.seismology.comparison.measures import Row, measure
from groundswell.seismology.comparison.tables import medians, plain, signed, text_table
from groundswell.seismology.signals import lowpass

H = 0.02
TIME = H * np.arange(2000)


@pytest.mark.parametrize("delay", [0.0, 0.5, -1.26, 0.013])
@pytest.mark.parametrize("factor", [1.0, 0.4, 3.0])
def test_known_shifts_and_factors_are_found(delay: float, factor: float) -> None:
    observed = motion(TIME)[0, 0]
    simulated = factor * motion(TIME - delay)[0, 0]
    shift, correlation, misfit, ratio = measure(simulated, observed, H)
    assert shift == pytest.approx(delay, abs=1e-3) and ratio == pytest.approx(factor, rel=1e-9)
    assert correlation == pytest.approx(1.0, abs=2e-6)
    expected = np.sqrt(np.sum((simulated - observed) ** 2) / np.sum(observed**2))
    assert misfit == pytest.approx(expected, rel=1e-12)


def test_the_best_shift_is_that_of_obspy() -> None:
    """For noise, whose best correlation is far from 1."""
    obspy = pytest.importorskip("obspy.signal.cross_correlation")
    rng = np.random.default_rng(8)
    for _ in range(5):
        both = lowpass(rng.normal(size=(2, 1000)), H, 2.0)
        found = obspy.correlate(*both, 300, demean=False, normalize="naive")
        samples, value = obspy.xcorr_max(found, abs_max=False)
        shift, correlation, *_ = measure(*both, H, max_shift=300 * H)
        assert shift == pytest.approx(samples * H, abs=H / 2)
        assert correlation == pytest.approx(value, rel=0.01)


def test_shifts_have_a_limit() -> None:
    observed, simulated = motion(TIME)[0, 1], motion(TIME - 3.0)[0, 1]
    assert measure(simulated, observed, H, max_shift=3.1)[0] == pytest.approx(3.0, abs=1e-3)
    assert abs(measure(simulated, observed, H, max_shift=2.0)[0]) <= 2.0 + H
    assert abs(measure(simulated, observed, H, max_shift=1e9)[0] - 3.0) < 1e-3
    assert measure(simulated, observed, H, max_shift=0.001)[0] == 0.0


def test_opposite_motion_has_no_high_correlation() -> None:
    observed = np.exp(-((TIME - 20.0) ** 2))
    _, correlation, misfit, ratio = measure(-observed, observed, H, max_shift=5.0)
    assert correlation < 0.05 and misfit == pytest.approx(2.0) and ratio == pytest.approx(1.0)


def test_silence_has_no_shift() -> None:
    wave, silence = motion(TIME)[0, 0], np.zeros(2000)
    assert np.isnan(measure(silence, wave, H)[:2]).all() and measure(silence, wave, H)[2:] == (1, 0)
    assert np.isnan(measure(wave, silence, H)).all()


def test_tables_show_dashes_and_medians() -> None:
    nan = float("nan")
    rows = [
        Row("GS.A", "Z", 0.0, 10.0, -0.0001, 0.98765, 0.2, 1.1),
        Row("GS.LONG", "N", 0.0, 10.0, nan, nan, nan, nan),
        Row("GS.A", "E", 0.0, 10.0, 0.3, 0.9, 0.4, 1.2),
    ]
    lines = text_table(rows).splitlines()
    assert lines[1].split() == "GS.A Z 0 to 10 +0.000 0.988 0.200 1.100".split()
    assert lines[2].split() == "GS.LONG N 0 to 10 - - - -".split()
    assert lines[-1].split() == "median +0.150 0.944 0.300 1.150".split()
    assert medians(rows)["misfit"] == pytest.approx(0.3) and signed(-0.25) == "-0.250"
    assert [plain(x) for x in (0.0, 1e-3, 9.9e-4, 1234.5)] == [
        "0.000",
        "0.001",
        "9.9e-04",
        "1.2e+03",
    ]
    assert rows[1].as_dict()["shift"] is None
