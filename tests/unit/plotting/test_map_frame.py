"""Where points lie on a map, and where their labels do."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from result_files import X, Y, degrees, rng

from groundswell.plotting.labels import place_labels
from groundswell.plotting.map_frame import MapFrame

pytestmark = pytest.mark.each_value


@pytest.mark.parametrize("geography", [False, True])
def test_a_frame_locates_points_where_the_mesh_has_them(geography: bool) -> None:
    mesh = degrees(*np.meshgrid(X, Y)) if geography else (None, None)
    frame = MapFrame(X, Y, *mesh)
    x, y = rng.uniform(0, 6000, 30), rng.uniform(0, 4000, 30)
    expected = degrees(x, y) if geography else (x / 1e3, y / 1e3)
    assert np.allclose(frame.locate(x, y), expected, rtol=0, atol=2e-9 if geography else 1e-12)
    u, v = frame.locate(X[7], Y[3])
    assert (u[0], v[0]) == pytest.approx((frame.mesh[0][3, 7], frame.mesh[1][3, 7]))


def test_labels_touch_neither_each_other_nor_points() -> None:
    figure = Figure(figsize=(6, 6))
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    x, y = rng.uniform(0, 1, (2, 80))
    axes.plot(x, y, "^")
    placed = place_labels(axes, x, y, [f"NAME{i}" for i in range(80)])
    texts = [t for t in axes.texts if isinstance(t, Annotation)]
    boxes = [t.get_window_extent() for t in texts]
    pixels = axes.transData.transform(np.column_stack([x, y]))
    frame = axes.get_window_extent()
    assert placed == len(boxes)
    assert 20 < placed <= 80  # crowded, yet most of what fits is named
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert not any(box.contains(*pixel) for pixel in pixels)
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
