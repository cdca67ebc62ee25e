"""Round numbers, and units that fit."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.plotting.style import round_below, round_numbers, speed_unit

pytestmark = pytest.mark.each_value


def test_round_numbers_lie_between_the_ends() -> None:
    assert round_numbers(0.15, 7) == pytest.approx([0.2, 0.5, 1, 2, 5])
    assert round_numbers(1, 2) == []
    assert round_numbers(0, 1) == round_numbers(2, 1) == round_numbers(np.nan, 1) == []
    assert [round_below(v) for v in (1.0, 1.99, 7, 0.03)] == pytest.approx([1, 1, 5, 0.02])


@pytest.mark.parametrize(
    ("largest", "name"),
    [(0.3, "cm/s"), (0, "cm/s"), (np.nan, "cm/s"), (50, "m/s"), (5e-4, "µm/s"), (1e-12, "nm/s")],
)
def test_speeds_get_a_fitting_unit(largest: float, name: str) -> None:
    unit, found = speed_unit(largest)
    assert found == name
    assert unit == {"m/s": 1, "cm/s": 1e-2, "µm/s": 1e-6, "nm/s": 1e-9}[name]
