"""A fault in pictures: its points along strike and down dip, joined by triangles, and axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Indices, Mask
from groundswell.plotting.style import ACCENT, WIDTH, speed_unit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.tri import Triangulation

_LONGEST = 4.0  # edge of a triangle, over the distance of points there; longer ones span gaps
_ROUNDING = 1e-3  # m, of positions that several elements share
_TALLEST = 1.4  # height over width of a picture
_MARGIN = 0.75  # inches of a panel for its axis and name


@dataclass(frozen=True, eq=False)
class FaultPanel:
    """The places of a fault's points; elements share some of them.

    Args:
        name: of the fault.
        points: its points among those of the file, (n,).
        place: of each point among the places, (n,).
        along, down: the places along strike and down dip, km, (places,).
        spacing: distance of places there, km, (places,).
    """

    name: str
    points: Indices
    place: Indices
    along: Floats
    down: Floats
    spacing: Floats

    @classmethod
    def of(cls, fault: xarray.Dataset, name: str, points: Indices) -> FaultPanel:
        """The panel of some points of a map of faults."""
        at = [fault[axis].values[points] for axis in ("along_strike", "down_dip")]
        keys = np.round(np.column_stack(at) / _ROUNDING).astype(np.int64)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        area = np.bincount(place.ravel(), fault["area"].values[points])
        along, down = (axis[first] / 1e3 for axis in at)
        return cls(name, points, place.ravel(), along, down, np.sqrt(area) / 1e3)

    def mean(self, values: Floats) -> Floats:
        """Means at the places of values at all points of the file; NaN where one is NaN."""
        own = np.asarray(values)[self.points]
        return np.bincount(self.place, own) / np.bincount(self.place)

    @property
    def size(self) -> tuple[float, float]:
        """Extent along strike and down dip, km."""
        return float(np.ptp(self.along)), float(np.ptp(self.down))

    @cached_property
    def triangles(self) -> Triangulation:
        """The triangles between neighbours."""
        from matplotlib.tri import Triangulation

        found = Triangulation(self.along, self.down)
        corners = found.triangles
        sides = [corners[:, [n, (n + 1) % 3]] for n in range(3)]
        lengths = [np.hypot(*np.diff([self.along[s], self.down[s]])[..., 0]) for s in sides]
        longest, reach = np.max(lengths, axis=0), self.spacing[corners].max(axis=1)
        found.set_mask(longest > _LONGEST * reach)
        return found

    def where(self, known: Mask) -> Triangulation | None:
        """The triangles with known values at all corners; None without."""
        from matplotlib.tri import Triangulation

        corners, mask = self.triangles.triangles, self.triangles.mask
        hidden = ~known[corners].all(axis=1)
        hidden = hidden if mask is None else hidden | mask
        return None if hidden.all() else Triangulation(self.along, self.down, corners, hidden)


def panels_of(fault: xarray.Dataset) -> Iterator[FaultPanel]:
    """The panel of each fault of a map of faults."""
    numbers = fault["fault"].values
    for number, name in enumerate(str(fault["fault"].attrs["flag_meanings"]).split()):
        yield FaultPanel.of(fault, name, np.flatnonzero(numbers == number))


def rate_unit(largest: float) -> tuple[float, str]:
    """A suitable unit for slip rates up to the largest one (m/s): its value in m/s, and name."""
    return (1.0, "m/s") if largest >= 0.1 else speed_unit(largest)


def panels_height(panels: Sequence[FaultPanel]) -> float:
    """Height of a picture, in inches, with all panels on the scale of the longest fault."""
    longest = max(panel.size[0] for panel in panels)
    down = sum(panel.size[1] for panel in panels)
    return min(0.83 * WIDTH * down / longest + _MARGIN * len(panels), _TALLEST * WIDTH)


def panel_axes(figure: Figure, panels: Sequence[FaultPanel]) -> list[Axes]:
    """The axes of the panels in a figure of this height, in kilometres along strike and down."""
    ratios = {"height_ratios": [panel.size[1] for panel in panels]}
    drawn = figure.subplots(len(panels), squeeze=False, gridspec_kw=ratios)[:, 0]
    longest = max(panel.size[0] for panel in panels)
    for axes, panel in zip(drawn, panels, strict=True):
        left, ends = panel.along.min(), (panel.down.max(), panel.down.min())
        axes.set(aspect="equal", xlim=(left, left + longest), ylim=ends, ylabel="Down dip (km)")
        axes.spines[:].set_visible(False)
        if len(panels) > 1:
            axes.set_title(panel.name, fontsize=11, loc="left")
    drawn[-1].set_xlabel("Along strike (km)")
    return [*drawn]


def mark_start(drawn: Sequence[Axes], panels: Sequence[FaultPanel], times: Floats) -> None:
    """Draw a star in the middle of the points that break first."""
    if not np.isfinite(times).any():
        return
    first = np.nanmin(times)
    for axes, panel in zip(drawn, panels, strict=True):
        begins = panel.mean(times) == first
        if begins.any():
            at = panel.along[begins].mean(), panel.down[begins].mean()
            axes.plot(*at, "*", markersize=18, color=ACCENT, markeredgecolor="white", zorder=8)
