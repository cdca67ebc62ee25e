"""Where an earthquake begins: at the hypocentre, or where a fault breaks first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fault_cases import TPV3, TPV5, TPV10, dipping_points, random_points, section

from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.faults.hypocentre import event_position
from groundswell.seismology.faults.points import FaultPoints

NEAR = 700.0  # m; the mean distance of random points is 470 m


def fault(
    content: dict[str, Any], points: FaultPoints | None = None, **changes: Any
) -> tuple[FaultSection, FaultEstimates]:
    found = section(content, **changes)
    points = random_points(found, 2000) if points is None else points
    medium = (np.full(len(points), value) for value in (3.2e10, 0.25, 4.6e6))
    return found, FaultEstimates(points, conditions_of(found, points), *medium)


def position(*faults: tuple[FaultSection, FaultEstimates]) -> Any:
    return event_position([section for section, _ in faults], [each for _, each in faults])


def test_it_is_the_hypocentre_that_is_given_first() -> None:
    hidden, known = fault(TPV5, hypocenter=None), fault(TPV3, hypocenter=[2e3, 0, 11e3])
    assert position(hidden, known) == (2e3, 0, 11e3)


def test_a_fault_without_hypocentre_starts_in_its_overloaded_patch() -> None:
    x, y, depth = position(fault(TPV5, hypocenter=None))
    assert np.hypot(x, depth - 7.5e3) < NEAR and y == 0


def test_the_fault_that_is_loaded_most_above_its_strength_breaks_first() -> None:
    weak = fault(TPV5, hypocenter=None)
    strong = fault(TPV3, hypocenter=None, stress={"normal": 120e6, "shear": 85e6, "rake": 180})
    x, _, depth = position(weak, strong)
    assert np.hypot(x, depth - 17.5e3) < NEAR


def test_a_surface_that_reaches_the_top_starts_in_its_patch_too() -> None:
    points = dipping_points(2000)
    x, y, depth = position(fault(TPV10, points, hypocenter=None))
    away = np.subtract((x, y, depth), TPV10["patch"][0]["center"])
    assert np.linalg.norm(away) < NEAR
    assert np.linalg.norm(points.position - (x, y, depth), axis=1).min() == 0


def test_a_fault_that_nothing_starts_has_its_middle() -> None:
    x, _, depth = position(fault(TPV5, hypocenter=None, patch=None))
    assert np.hypot(x, depth - 7.5e3) < NEAR


def test_there_is_none_without_faults() -> None:
    assert event_position([], []) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_a_point_of_the_fault(seed: int) -> None:
    found = section(TPV5, hypocenter=None)
    points = random_points(found, 300, seed=seed)
    place = position(fault(TPV5, points, hypocenter=None))
    assert (points.position == place).all(axis=1).any()
