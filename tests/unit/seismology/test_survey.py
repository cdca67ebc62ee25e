"""The sources and receivers of a case as one record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from groundswell.seismology.case.sources import PointForce
from groundswell.seismology.receivers import Station
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.survey import Survey


def survey(*frequencies: float) -> Survey:
    """Vertical forces on a line, with Ricker wavelets of the given frequencies."""
    forces = [
        PointForce.model_validate(
            {"kind": "force", "force": [0, 0, 1e9], "x": 100.0 * n, "y": 50.0, "depth": 20.0}
            | {"time_function": {"kind": "ricker", "frequency": frequency}}
        )
        for n, frequency in enumerate(frequencies)
    ]
    nothing: Any = lambda x, y, z: np.zeros_like(x)  # noqa: E731
    properties = {"rigidity": nothing, "lame": nothing, "density": nothing}
    context = SourceContext(None, 1e-3, 5.0, (10.0, 10.0, 10.0), **properties)
    receivers = [Station("GS", name, (5.0, 6.0, depth)) for name, depth in (("A", 0.0), ("B", 7.0))]
    return Survey(build_sources(forces, context), receivers)


def test_places_are_those_of_receivers_and_then_of_all_points_of_sources() -> None:
    found = survey(2.0, 3.0)
    points = [replace(found.sources[1], position=(1.0, 2.0, depth)) for depth in (3.0, 4.0)]
    several = Survey([found.entries[0], replace(found.entries[1], points=points)], found.receivers)
    assert several.places == [
        ("receiver A", (5.0, 6.0, 0.0)),
        ("receiver B", (5.0, 6.0, 7.0)),
        ("source[0]", (0.0, 50.0, 20.0)),
        ("source[1]", (1.0, 2.0, 3.0)),
        ("source[1]", (1.0, 2.0, 4.0)),
    ]
    assert several.sources == [*found.entries[0].points, *points]


def test_the_frequency_is_that_of_the_highest_source() -> None:
    found = survey(2.0, 8.0, 4.0)
    assert found.frequency == pytest.approx(survey(8.0).frequency, rel=1e-3)
    assert found.frequency > 1.9 * survey(4.0).frequency


def test_the_summary_of_forces_is_their_mean_position() -> None:
    assert survey(2.0, 2.0, 2.0).summary.centroid == pytest.approx((100.0, 50.0, 20.0))
