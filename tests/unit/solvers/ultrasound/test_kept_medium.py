"""Shots of a survey, which share the medium and what follows from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ultrasound_cases

from groundswell.simulation.kept_parts import KeptParts

SPEED = np.linspace(1400.0, 1600.0, 2000).reshape(40, 50)
LOSSY = {"speed": SPEED, "density": 1000.0, "absorption": SPEED / 1e3, "power": 1.5}


def survey(**changes: Any) -> Any:
    return ultrasound_cases.setup(**{"medium": LOSSY, **changes})


def numbers(setup: Any) -> list[float]:
    """What follows from the medium."""
    return [setup.stability_limit, setup.absorbing_distance, setup.dt, setup.material_count]


def test_shots_share_the_medium_and_its_limits() -> None:
    with KeptParts().used():
        first, second = survey(), survey(source__0__pressure="2 kPa", time__duration="3 us")
    assert second._description is first._description
    alone = survey(source__0__pressure="2 kPa", time__duration="3 us")
    assert alone._description is not first._description
    assert numbers(second) == numbers(alone)
    assert np.array_equal(second.medium.speed, alone.medium.speed)


@pytest.mark.parametrize(
    "change",
    [
        {"medium": {**LOSSY, "speed": 1.1 * SPEED}},
        {"boundary__width": 15},
        {"run__precision": "double"},
        {"time__courant": 0.2},
        {"time__reference_speed": 1700.0},
    ],
)
def test_another_medium_or_grid_is_found_again(change: dict[str, Any]) -> None:
    """After a case that differs, and before it."""
    with KeptParts().used():
        found = [numbers(survey(**each)) for each in ({}, change, {})]
    assert found == [numbers(survey()), numbers(survey(**change)), numbers(survey())]
