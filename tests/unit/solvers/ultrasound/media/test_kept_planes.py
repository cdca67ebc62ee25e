"""Planes of a medium: kept ones are evaluated once, others again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from ultrasound_media import AXES, REGION, SHAPE, WATER, H

from groundswell.solvers.ultrasound.media import MediumDescription, MediumSection
from groundswell.solvers.ultrasound.media import build as media_build
from groundswell.solvers.ultrasound.media.build import KEPT
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.media.shapes import Sphere
from groundswell.solvers.ultrasound.window import Window


def random_spheres(seed: int) -> list[Sphere]:
    rng = np.random.default_rng(seed)
    high = np.array(REGION[1])
    return [Sphere(tuple(rng.random(3) * high), rng.uniform(1.5, 4) * H) for _ in range(4)]


@pytest.mark.parametrize("keep", [0, 300, KEPT])
def test_kept_planes_are_evaluated_once_and_the_others_again(
    keep: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[Plane] = []

    class Counted(Plane):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            evaluated.append(self)

    monkeypatch.setattr(media_build, "Plane", Counted)
    spheres, speeds = random_spheres(4), (2800.0, 1600.0, 2300.0, 1550.0)
    shapes = [
        {"kind": "sphere", "centre": each.centre, "radius": each.radius, "speed": speed}
        for each, speed in zip(spheres, speeds, strict=True)
    ]
    section = MediumSection(**WATER, shape=shapes)
    description = MediumDescription(section, AXES, REGION, "float64", keep)
    nz, ny, nx = SHAPE
    part = Window((nx, ny, nz), (1, 2, 3), (4, 3, 5))
    x, y, z = AXES
    expected = np.full(SHAPE, 1500.0)
    for sphere, speed in zip(spheres, speeds, strict=True):
        expected[sphere.contains(x, y[:, None], z[:, None, None])] = speed
    assert_array_equal(description.medium().speed, expected)
    assert_array_equal(description.speeds(np.arange(nz * ny * nx)), expected.ravel())
    assert_array_equal(description.lossless_in(part).speed, expected[3:8, 2:5, 1:5])
    assert len(evaluated) == nz if keep == KEPT else len(evaluated) > nz
