"""Round numbers, units that fit, and the layout of pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.plotting.style import (
    distance_text,
    headline,
    round_below,
    round_numbers,
    settle_layout,
    speed_unit,
    styled_figure,
)

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


def test_the_layout_is_found_once() -> None:
    """Two passes suffice: further ones move no axes by a hundredth of a pixel."""
    with styled_figure(4.0) as figure:
        above, below = figure.subplots(2, sharex=True)
        above.plot([0, 1e5], [-1e-3, 2e-3])
        below.set(xlabel="time (s)", ylabel="two\nlines")
        headline(above, "A title", "a subtitle")
        layout: Any = figure.get_layout_engine()
        settle_layout(figure)
        assert figure.get_layout_engine() is None
        found = [axes.get_position().bounds for axes in figure.axes]
        layout.execute(figure)
        for axes, bounds in zip(figure.axes, found, strict=True):
            assert axes.get_position().bounds == pytest.approx(bounds, abs=0.01 / 1600)


@pytest.mark.parametrize(
    ("distance", "largest", "text"),
    [
        (0.4, 1999.0, "0 m"),
        (105.2, 1800.0, "105 m"),
        (105.2, 2000.0, "0.1 km"),
        (22e3, 3e4, "22.0 km"),
    ],
)
def test_distances_have_the_unit_of_the_largest(distance: float, largest: float, text: str) -> None:
    assert distance_text(distance, largest) == text
