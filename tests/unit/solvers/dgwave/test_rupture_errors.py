"""Errors of the rupture times of TPV3: nodes that never break neither hide nor spoil them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.reference.tpv3 import rupture_time
from groundswell.solvers.dgwave.verification.ruptures import ENOUGH, time_errors

# The last point is at the edge, where the solution is not known.
ALONG, DOWN = np.array([2e3, -5e3, 9e3, 15e3]), np.array([7.5e3, 9e3, 3e3, 7.5e3])
AREA = np.array([3.0, 1.0, 4.0, 5.0])
NONE = np.zeros((4, 3))
POINTS = FaultPoints(NONE, NONE, NONE, NONE, ALONG, DOWN, AREA)
EXACT = rupture_time(ALONG, DOWN - 7500)


def test_errors_are_weighted_by_area() -> None:
    broken, error = time_errors(POINTS, EXACT + np.array([0.02, -0.04, 0.01, 9.0]))
    assert broken == 1
    squares = 3 * 0.02**2 + 1 * 0.04**2 + 4 * 0.01**2
    assert error == pytest.approx(np.sqrt(squares / 8))


@pytest.mark.parametrize(("locked", "enough"), [(1e-3, True), (1e-1, False)])
def test_locked_nodes_count_as_area(locked: float, enough: bool) -> None:
    points = replace(POINTS, area=AREA * [1, locked, 1, 1])
    broken, error = time_errors(points, EXACT + np.array([0.02, np.inf, 0.02, np.inf]))
    assert error == pytest.approx(0.02)
    assert broken == pytest.approx(7 / (7 + locked)) and (broken >= ENOUGH) == enough
