"""Names beside points, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Preferred places around a point: direction and alignment, the most readable first.
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
    """Write names beside the points (x, y) where there is room; returns how many found room.

    Greedy: each name takes the first of eight places that lies inside the axes and touches no
    point, no earlier name and none of the artists to `avoid`.
    """
    import matplotlib.patheffects as effects
    import numpy as np
    from matplotlib.transforms import Bbox

    figure = axes.figure
    figure.draw_without_rendering()  # type: ignore[union-attr]
    frame = axes.get_window_extent()
    pixels = axes.transData.transform(np.column_stack([x, y]))
    boxes = [a.get_window_extent() for a in avoid]
    boxes += [Bbox.from_bounds(px - 7, py - 7, 14, 14) for px, py in pixels]
    placed = 0
    for point, name in zip(np.column_stack([x, y]), names, strict=True):
        text = axes.annotate(
            name,
            point,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=9,
            zorder=6,
            annotation_clip=True,
            path_effects=[effects.withStroke(linewidth=2.2, foreground="white")],
        )
        text.set_in_layout(False)
        for dx, dy, horizontal, vertical in _PLACES:
            text.set_position((6 * dx, 6 * dy))
            text.set(ha=horizontal, va=vertical)
            box = text.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in boxes):
                boxes.append(box)
                placed += 1
                break
        else:
            text.remove()
    return placed
