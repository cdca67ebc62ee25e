"""What `check` says of intensity measures."""

from __future__ import annotations

from typing import Any

import pytest

from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.intensity.advice import intensity_warnings, map_quantities
from groundswell.seismology.intensity.maps import map_bytes, steps_between


def advice(**section: Any) -> list[str]:
    return [*intensity_warnings(IntensityOutput(**section), 2.0, 0.01, 20.0)]


def test_periods_that_say_little_are_named() -> None:
    [short] = advice(periods=[0.3, 0.4, 1.0])
    assert "2 periods below 0.5 s" in short and "up to 2 Hz" in short
    [long] = advice(periods=[1, 30])
    assert "30 s, longer than time.duration = 20 s" in long
    coarse = advice(periods=[0.1], maps=["psa"])[-1]
    assert "steps of 0.01 s" in coarse and "up to 4.9 %" in coarse  # 1 - cos(pi / 10)
    assert advice(periods=[0.5, 20]) == advice(measures=["pgv"]) == []
    assert [*intensity_warnings(None, 2.0, 0.01, 20.0)] == []


@pytest.mark.parametrize("dt", [0.003, 0.01, 0.5])
def test_oscillators_advance_at_least_as_often_as_they_should(dt: float) -> None:
    section = IntensityOutput(periods=[1.0, 3.0], maps=["psa"])
    every = steps_between(section, dt)
    assert every >= 1 and (every * dt <= 0.02 * (1 + 1e-9) or every == 1)
    assert (every + 1) * dt > 0.02
    given = IntensityOutput(periods=[1.0], maps=["psa"], interval=3 * dt if dt < 0.01 else None)
    assert dt > 0.004 or steps_between(given, dt) == 3


def test_memory_is_that_of_what_is_asked_for() -> None:
    def each(**section: Any) -> float:
        return map_bytes(IntensityOutput(periods=[1, 2, 4], **section), 100, 4) / 100

    assert each() == 0
    assert each(maps=["psa"]) == 4 * (6 + 3 * 7)
    assert each(maps=["rotd50"], angles=20) == 4 * (6 + 3 * 27)
    assert each(maps=["cav"]) == 4 * 6 + 8 * 4
    section = IntensityOutput(periods=[1, 2, 4], maps=["psa", "arias"])
    [interval, memory] = map_quantities(section, 100, 4, 0.01, "Group")
    assert interval.value == 0.02 and memory.value == 100 * each(maps=["psa", "arias"])
    assert "3 periods, oscillators every 0.02 s" in memory.text
    assert not [*map_quantities(None, 100, 4, 0.01, "Group")]
