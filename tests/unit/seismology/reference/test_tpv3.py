"""The rupture time of TPV3."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.seismology.reference.tpv3 import low_passed, rupture_time


def test_known_times_in_all_quarters() -> None:
    """Along strike and along dip, as read from the original array of all 300 x 150 cells."""
    along, dip = np.array([3e3, 4.5e3, 6e3, 9e3, 12e3]), np.array([3e3, 4.5e3, 6e3, 7e3])
    for sign in (1, -1):
        found = rupture_time(sign * along, 50.0)
        assert found == pytest.approx([1.068, 1.727, 2.386, 3.546, 4.609], abs=0.02)
        found = rupture_time(-50.0, sign * dip)
        assert found == pytest.approx([1.309, 2.156, 2.892, 3.320], abs=0.02)


def test_it_is_known_up_to_the_middles_of_the_outermost_cells() -> None:
    assert np.isfinite(rupture_time([0, 14_950, -14_950], [0, 7_450, -7_450])).all()
    assert np.isnan(rupture_time([14_960, 0, 20_000], [0, -7_460, 0])).all()


def test_a_low_pass_keeps_slow_rates_and_takes_fast_ones() -> None:
    """At 2 Hz it halves the power; at 8 Hz, two octaves above, it leaves 1/64 of the amplitude."""
    time = 0.005 * np.arange(4000)
    rates = np.stack([np.ones(len(time)), *(np.sin(2 * np.pi * f * time) for f in (0.5, 2.0, 8.0))])
    found = np.abs(low_passed(rates, 0.005)[:, 2000:]).max(axis=-1)
    assert found == pytest.approx([1, 1, np.sqrt(0.5), 1 / 64], rel=0.02)
