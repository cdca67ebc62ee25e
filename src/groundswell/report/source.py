"""How a map shows the earthquake: the fault's outline, and a beach ball or a star."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.report.frame import Frame
from groundswell.report.style import ACCENT, INK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def draw_source(
    axes: Axes, frame: Frame, attrs: Mapping[str, Any], size: float = 1.0
) -> list[Artist]:
    """Draw what the attributes of a results file tell of the source (see `write_shaking_map`).

    Returns the artists that names should keep clear of.
    """
    if "fault_x" in attrs and "fault_y" in attrs:
        outline = frame.locate(attrs["fault_x"], attrs["fault_y"])
        axes.plot(*outline, color="white", linewidth=3.5, alpha=0.8, zorder=4)
        axes.plot(*outline, color=INK, linewidth=1.6, zorder=4)
    if "event_x" not in attrs or "event_y" not in attrs:
        return []
    u, v = (float(c[0]) for c in frame.locate(attrs["event_x"], attrs["event_y"]))
    if ball := _beach_ball(axes, frame, attrs, (u, v), 70 * size):
        axes.add_collection(ball)
        return list(axes.plot(u, v, "o", markersize=37 * size, color="white", zorder=6))  # its halo
    (star,) = axes.plot(u, v, "*", markersize=20 * size, color=ACCENT, clip_on=False, zorder=7)
    star.set_markeredgecolor("white")
    return [star]


def turned(mechanism: ArrayLike, upward: float) -> list[float]:
    """A mechanism as seen on a map whose up points `upward` degrees clockwise from north.

    Args:
        mechanism: strike, dip and rake in degrees, or a moment tensor's rr, tt, pp, rt, rp, tp.
    """
    values = [float(v) for v in np.ravel(mechanism)]
    if len(values) == 3:
        strike, dip, rake = values
        return [strike - upward, dip, rake]
    rr, tt, pp, rt, rp, tp = values
    cos, sin = np.cos(np.radians(upward)), np.sin(np.radians(upward))
    rotation = np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])
    m = rotation @ np.array([[rr, rt, rp], [rt, tt, tp], [rp, tp, pp]]) @ rotation.T
    return [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]


def _beach_ball(
    axes: Axes, frame: Frame, attrs: Mapping[str, Any], place: tuple[float, float], width: float
) -> Any:
    """The beach ball, or None where the mechanism or ObsPy is missing."""
    mechanism = attrs.get("focal_mechanism")
    if mechanism is None or not np.any(mechanism):
        return None
    try:
        from obspy.imaging.beachball import beach
    except ImportError:
        return None
    return beach(
        turned(mechanism, frame.upward),
        xy=place,
        width=width,
        axes=axes,
        facecolor=ACCENT,
        linewidth=0.8,
        zorder=7,
    )
