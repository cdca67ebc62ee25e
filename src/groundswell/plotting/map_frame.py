"""Coordinates of maps: kilometres along the grid's axes, or longitude and latitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers
from groundswell.plotting.style import INK, round_below

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_LINES = 3  # order of drawing: above colours and contours, below faults and stations
_SLENDERNESS = (0.25, 2.5)  # limits of height over width; narrower maps are stretched
Points = tuple[Floats, Floats]

_DEGREE = np.radians(1.0) * 6371008.8  # of latitude on a sphere of the Earth's mean radius, m


@dataclass(frozen=True)
class MapFrame:
    """The map coordinates of cells at `x`, `y` (m, in the grid's frame).

    With `longitude` and `latitude` (ny, nx), the map is in degrees, with the aspect ratio that
    makes a kilometre equally long in both directions at its centre. Without, it is in kilometres
    along the grid's axes, where y points to `azimuth` (degrees clockwise from north). `lines` are
    drawn on maps in degrees, each (n, 2): longitude and latitude.
    """

    x: Floats
    y: Floats
    longitude: Floats | None = None
    latitude: Floats | None = None
    azimuth: float = 0.0
    lines: Sequence[Floats] = ()

    @classmethod
    def of(cls, dataset: xarray.Dataset) -> Self:
        """The frame of a dataset with `x`, `y` and perhaps `longitude` and `latitude`."""
        return cls(
            dataset["x"].values,
            dataset["y"].values,
            dataset["longitude"].values if "longitude" in dataset else None,
            dataset["latitude"].values if "latitude" in dataset else None,
            float(dataset.attrs.get("azimuth", 0.0)),
        )

    @property
    def upward(self) -> float:
        """Direction of up in the picture, degrees clockwise from north."""
        return self.azimuth if self.longitude is None else 0.0

    @cached_property
    def mesh(self) -> Points:
        """Horizontal and vertical map coordinate of every cell centre, both (ny, nx)."""
        if self.longitude is not None and self.latitude is not None:
            return self.longitude, self.latitude
        east, north = np.meshgrid(self.x / 1e3, self.y / 1e3)
        return east, north

    @cached_property
    def aspect(self) -> float:
        """Length of the vertical unit over the length of the horizontal unit."""
        if self.latitude is None:
            return 1.0
        return float(1 / np.cos(np.radians(self.latitude.mean())))

    @property
    def slenderness(self) -> float:
        """Height of the map over its width, limited to _SLENDERNESS."""
        return float(np.clip(self._true_slenderness, *_SLENDERNESS))

    @property
    def _true_slenderness(self) -> float:
        u, v = self.mesh
        return float(np.ptp(v) * self.aspect / max(np.ptp(u), 1e-12))

    def locate(self, x: ArrayLike, y: ArrayLike) -> Points:
        """Map coordinates of points in the grid's frame (m), also slightly outside the cells."""
        x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        if self.longitude is None or min(len(self.x), len(self.y)) < 2:
            return x / 1e3, y / 1e3
        (row, up), (column, right) = _cell_of(self.y, y), _cell_of(self.x, x)
        u, v = (
            (1 - up) * ((1 - right) * c[row, column] + right * c[row, column + 1])
            + up * ((1 - right) * c[row + 1, column] + right * c[row + 1, column + 1])
            for c in self.mesh
        )
        return u, v

    def dress(self, axes: Axes) -> None:
        """Set the limits, aspect ratio and labels of the axes, and draw the lines."""
        u, v = self.mesh
        axes.set_xlim(_with_edges(u, cells=len(self.x)))
        axes.set_ylim(_with_edges(v, cells=len(self.y)))
        if self.slenderness == self._true_slenderness:
            axes.set_aspect(self.aspect)
        axes.locator_params(nbins=6)
        if self.longitude is None:
            axes.set_xlabel("x (km)")
            axes.set_ylabel("y (km)")
        else:
            axes.xaxis.set_major_formatter(lambda degrees, _: _compass(degrees, "EW"))
            axes.yaxis.set_major_formatter(lambda degrees, _: _compass(degrees, "NS"))
            self._draw_lines(axes)

    def _draw_lines(self, axes: Axes) -> None:
        """Draw the lines above the colours, with white edges, so that they show on dark ones."""
        from matplotlib.collections import LineCollection
        from matplotlib.patheffects import withStroke

        edges = [withStroke(linewidth=2.4, foreground="white", alpha=0.6)]
        style = {"colors": INK, "linewidths": 0.9, "capstyle": "round", "path_effects": edges}
        if self.lines:
            drawn = LineCollection(list(self.lines), zorder=_LINES, **style)
            axes.add_collection(drawn, autolim=False)

    def scale_bar(self, axes: Axes) -> None:
        """Draw a bar of a round number of kilometres above the map's right end."""
        from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

        kilometre = 1.0 if self.longitude is None else 1e3 / _DEGREE * self.aspect
        length = round_below(max(np.ptp(self.mesh[0]) / kilometre, 1e-6) / 4)
        bar = AnchoredSizeBar(
            axes.transData,
            length * kilometre,
            f"{length:g} km",
            "lower right",
            bbox_to_anchor=(1, 1),
            bbox_transform=axes.transAxes,
            frameon=False,
            label_top=True,
            sep=3,
            color=INK,
        )
        bar.set_in_layout(False)  # it lies within the space of the headline
        axes.add_artist(bar)

    def north_arrow(self, axes: Axes) -> list[Artist]:
        """Draw an arrow to the north, unless north is up."""
        if not self.upward:
            return []
        turn = np.radians(self.upward)
        direction = 34 * np.array([-np.sin(turn), np.cos(turn)])
        arrow = axes.annotate(
            "N",
            xy=(0.94, 0.90),
            xytext=tuple(-direction),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            va="center",
            fontweight="bold",
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.4},
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "none"},
        )
        return [arrow]


def _cell_of(along: Floats, at: Floats) -> tuple[Integers, Floats]:
    """The intervals of an axis in which positions lie, or next to which, and where in them."""
    first = np.clip(np.searchsorted(along, at) - 1, 0, len(along) - 2)
    return first, (at - along[first]) / (along[first + 1] - along[first])


def _with_edges(centres: Floats, cells: int) -> tuple[float, float]:
    """The range of cell centres, extended to the edges of the outer cells."""
    low, high = float(centres.min()), float(centres.max())
    half = (high - low) / (2 * max(cells - 1, 1)) or 0.5
    return low - half, high + half


def _compass(degrees: float, letters: str) -> str:
    if abs(degrees) < 1e-9:
        return "0°"
    return f"{abs(degrees):.6g}°{letters[0] if degrees > 0 else letters[1]}"
