"""Labels of points, which do not overlap, of contours and of traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.plotting.style import QUIET

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox

_CLEAR = 24  # pixels between a label of a contour and a point
# Places around a point, the most readable first: direction and alignment.
_PLACES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (1, 1, "left", "bottom"),
    (1, -1, "left", "top"),
    (-1, 1, "right", "bottom"),
    (-1, -1, "right", "top"),
)


def place_labels(
    axes: Axes, x: ArrayLike, y: ArrayLike, names: Sequence[str], avoid: Sequence[Artist] = ()
) -> int:
    """Label the points (x, y) where there is room; returns the number of labels placed.

    The algorithm is greedy: each label takes the first of eight places that lies inside the axes
    and overlaps no point, no earlier label and none of the artists in `avoid`.
    """
    import numpy as np
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # settles the layout
    points = np.column_stack([x, y])
    taken = [artist.get_window_extent() for artist in avoid]
    taken += [Bbox.from_bounds(u - 7, v - 7, 14, 14) for u, v in axes.transData.transform(points)]
    placed = 0
    for point, name in zip(points, names, strict=True):
        text = axes.annotate(
            name, point, xytext=(0, 0), textcoords="offset points", fontsize=9, zorder=6
        )
        text.set_path_effects([withStroke(linewidth=2.2, foreground="white")])
        text.set_in_layout(False)
        if room := _find_room(text, axes.get_window_extent(), taken):
            taken.append(room)
            placed += 1
        else:
            text.remove()
    return placed


def _find_room(text: Annotation, frame: Bbox, taken: Sequence[Bbox]) -> Bbox | None:
    """Move the text to the first free place; returns its box, or None if there is none."""
    for dx, dy, horizontal, vertical in _PLACES:
        text.set_position((6 * dx, 6 * dy))
        text.set(ha=horizontal, va=vertical)
        box = text.get_window_extent()
        inside = frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)
        if inside and not box.count_overlaps(taken):
            return box
    return None


def label_contours(axes: Axes, lines: ContourSet, points: ArrayLike) -> list[Text]:
    """Label contours with their values, away from points; returns the labels.

    A contour that is everywhere near points has none.

    Args:
        points: in the coordinates of the axes, (n, 2).
    """
    import numpy as np

    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # settles the layout
    taken = axes.transData.transform(np.reshape(points, (-1, 2)))
    near_label = lines.too_close  # which matplotlib asks whether a place is free, in pixels

    def is_taken(x: float, y: float, width: float) -> bool:
        near_point = np.hypot(*(taken - (x, y)).T) < width / 2 + _CLEAR
        return bool(near_label(x, y, width) or near_point.any())

    lines.too_close = is_taken  # type: ignore[method-assign, assignment]
    labels = list(axes.clabel(lines, fmt="%g", fontsize=8))
    covered = [each for each in labels if _covers(each, taken)]
    for each in covered:
        each.remove()
    return [each for each in labels if each not in covered]


def _covers(label: Text, pixels: Floats) -> bool:
    """Whether a label covers one of these points, or the symbols there."""
    box = label.get_window_extent().padded(_CLEAR / 2)
    return any(box.contains(x, y) for x, y in pixels)


def label_trace(axes: Axes, text: str, height: float) -> None:
    """Write a small text beside the right end of a horizontal trace at a height."""
    axes.annotate(
        text,
        (1, height),
        xytext=(4, 0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=QUIET,
    )
