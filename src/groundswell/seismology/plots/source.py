"""The source in figures: outline of the fault, beach ball, epicentre, and a caption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.style import ACCENT, INK
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.source_distances import epicentre

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def event_sentence(attrs: Attributes) -> str:
    """Magnitude, depth and time, if known; ends with a space unless empty."""
    words = []
    if "magnitude" in attrs:
        words.append(f"Mw {float(attrs['magnitude']):.1f}")
    if "event_depth" in attrs:
        depth = float(attrs["event_depth"])
        value = f"{depth:.3g} m" if depth < 100 else f"{depth / 1e3:.3g} km"
        words.append(f"{value} deep" if words else f"Source {value} deep")
    for name in ("origin_time", "centroid_time"):
        if name in attrs:
            words.append(f"{str(attrs[name])[:16].replace('T', ' ')} UTC")
            break
    return f"{', '.join(words)}. " if words else ""


def draw_source(axes: Axes, frame: MapFrame, attrs: Attributes) -> list[Artist]:
    """Draw the source from the attributes of a results file; see `write_shaking_map`.

    The beach ball marks the centroid of the moment, a star the epicentre of a rupture.

    Returns:
        The artists that labels should not overlap.
    """
    draw_fault(axes, frame, attrs)
    ball = _draw_ball(axes, frame, attrs)
    return [*ball, *draw_star(axes, frame, attrs)] if "epicentre_x" in attrs or not ball else ball


def draw_fault(axes: Axes, frame: MapFrame, attrs: Attributes) -> None:
    """Draw the outlines of a rupture's segments."""
    if "fault_x" in attrs and "fault_y" in attrs:
        outline = frame.locate(attrs["fault_x"], attrs["fault_y"])
        axes.plot(*outline, color="white", linewidth=3.5, alpha=0.8, zorder=4)
        axes.plot(*outline, color=INK, linewidth=1.6, zorder=4)


def draw_star(axes: Axes, frame: MapFrame, attrs: Attributes, size: float = 1.0) -> list[Artist]:
    """Draw a star at the epicentre."""
    if (place := epicentre(attrs)) is None:
        return []
    (star,) = axes.plot(*frame.locate(*place), "*", markersize=20 * size, color=ACCENT, zorder=8)
    star.set(markeredgecolor="white", clip_on=False)
    return [star]


def rotated(mechanism: ArrayLike, upward: float) -> list[float]:
    """A mechanism in a map whose vertical axis points `upward` degrees clockwise from north.

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


def _draw_ball(axes: Axes, frame: MapFrame, attrs: Attributes) -> list[Artist]:
    """Draw the beach ball with a white halo; nothing if its data or ObsPy are missing."""
    mechanism = attrs.get("focal_mechanism")
    if mechanism is None or not np.any(mechanism) or "event_x" not in attrs:
        return []
    try:
        from obspy.imaging.beachball import beach
    except ImportError:
        return []
    u, v = (float(c[0]) for c in frame.locate(attrs["event_x"], attrs["event_y"]))
    style = {"width": 70, "facecolor": ACCENT, "linewidth": 0.8, "zorder": 7}
    axes.add_collection(beach(rotated(mechanism, frame.upward), xy=(u, v), axes=axes, **style))
    return list(axes.plot(u, v, "o", markersize=37, color="white", zorder=6))
