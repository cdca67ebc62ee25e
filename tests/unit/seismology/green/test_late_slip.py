"""Warnings of slip after the end of seismograms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from green_tensors import DT, make_sources, make_tensor

from groundswell.seismology.green.late_slip import LateSlip, released_by, warn_of_late_slip
from groundswell.seismology.green.slip import SLIP_RATES, PointFinder, SlipRows
from groundswell.seismology.green.synthesis import Variations

STARTS = (0.0, 0.13, 0.3)


@pytest.fixture(scope="module")
def rows() -> SlipRows:
    return SlipRows.of(make_sources(STARTS), PointFinder(make_tensor()))


@pytest.mark.parametrize("shape", SLIP_RATES)
def test_the_slip_of_a_shape_is_the_integral_of_its_rate(shape: str, rows: SlipRows) -> None:
    rise, ends = 0.4, np.array([-0.1, 0.05, 0.15, 0.3, 0.5, 3.0])
    function, times = SLIP_RATES[shape](rise=rise), np.linspace(0, 20 * rise, 80_001)
    slip = np.cumsum(function(times))
    varied = Variations(
        np.zeros((1, len(rows.points))), np.ones((1, 1)), np.full((1, 1), rise), shape
    )
    found = [released_by(float(end), rows, varied)[0] for end in ends]
    assert found == pytest.approx(np.interp(ends, times, slip / slip[-1]), abs=1e-3)


def test_the_own_slip_of_a_rupture(rows: SlipRows) -> None:
    none = Variations.none(rows)
    assert released_by(rows.end + DT, rows, none) == pytest.approx(1.0)
    assert released_by(-1.0, rows, none)[0] < 0.1
    parts = [released_by(end, rows, none)[0] for end in np.arange(0, rows.end, 0.05)]
    assert (np.diff(parts) >= 0).all()


def test_who_is_warned(rows: SlipRows) -> None:
    short, long = make_tensor(samples=round(0.4 * rows.end / DT)), make_tensor(samples=400)
    count = len(rows.points)
    varied = Variations(np.outer([0, 3.7, 3.8], np.ones(count)), np.ones((3, 1)), np.ones((3, 1)))
    with pytest.warns(LateSlip, match=r"end at .* s, when only \d+ % of the moment is released"):
        warn_of_late_slip(short, rows, Variations.none(rows))
    with pytest.warns(
        LateSlip, match=r"when 2 of 3 variations \(in rows 2, 3 of their table\) have"
    ):
        warn_of_late_slip(long, rows, varied)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_late_slip(long, rows, Variations.none(rows))
