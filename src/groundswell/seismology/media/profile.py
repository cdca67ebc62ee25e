"""Media that vary with depth only, and their averages over intervals of depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Indices, Reals
from groundswell.seismology.media.material import Material

# Relative distance, in cells, below which an interface counts as on the edge of a cell. Rounding
# errors could otherwise place a thin sliver of water into a cell, and the cell would be a fluid.
SLIVER = 1e-9


class QuadraturePoints(NamedTuple):
    """Quadrature points in intervals of depth, in ascending order.

    Args:
        depth: depth of each point, m, (n,).
        weight: quadrature weight; those of an interval add up to 1, (n,).
        interval: index of the interval that contains the point, (n,).
    """

    depth: Reals
    weight: Reals
    interval: Indices


@dataclass(frozen=True)
class Profile:
    """A medium that varies with depth only, smoothly between its interfaces.

    Args:
        interfaces: depths of jumps and kinks, m, ascending, with 0 for the surface.
        points: number of Gauss points between two interfaces.
        sample: function that returns the material at depths (n,), m.
    """

    interfaces: Reals
    points: int
    sample: Callable[[Reals], Material]

    def quadrature(self, edges: Reals) -> QuadraturePoints:
        """Quadrature points for averages over the intervals between ascending `edges`, m."""
        sliver = SLIVER * float(np.diff(edges).min())
        inside = self.interfaces[(self.interfaces > edges[0]) & (self.interfaces < edges[-1])]
        near = edges[np.abs(edges - inside[:, None]).argmin(axis=1)]
        cuts = np.unique(np.append(edges, inside[np.abs(near - inside) > sliver]))
        points, weights = np.polynomial.legendre.leggauss(self.points)
        middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
        interval = np.searchsorted(edges, middle) - 1
        share = (half / np.diff(edges)[interval])[:, None] * weights
        depth = middle[:, None] + half[:, None] * points
        return QuadraturePoints(depth.ravel(), share.ravel(), np.repeat(interval, self.points))


def find_profile(medium: object) -> Profile | None:
    """The profile of a medium that varies with depth only; None for other media."""
    profile: Profile | None = getattr(medium, "profile", None)
    return profile


def step_profile(tops: Reals, table: Mapping[str, Reals]) -> Profile:
    """The profile of a stack of layers.

    Args:
        tops: depths of the tops of the layers, m, ascending from 0, (n,).
        table: properties of the layers, (n,) each.
    """

    def sample(depth: Reals) -> Material:
        layer = np.searchsorted(tops, depth, side="right") - 1
        return Material(**{name: values[layer] for name, values in table.items()})

    # Two Gauss points are exact for the moments of a constant up to the third.
    return Profile(tops, 2, sample)


def linear_profile(
    depths: Reals,
    table: Mapping[str, Reals],
    complete: Callable[[dict[str, Reals]], Material] = lambda values: Material(**values),
) -> Profile:
    """The profile through values at depths, constant above the first and below the last.

    Two values at one depth are a discontinuity. Between a fluid and a solid, the medium changes
    halfway.

    Args:
        depths: ascending depths, m, (n,).
        table: properties at the depths, (n,) each.
        complete: function that returns the material with given interpolated properties.
    """
    vs = table["vs"]

    def sample(depth: Reals) -> Material:
        above = (np.searchsorted(depths, depth, side="right") - 1).clip(0)
        below = np.minimum(above + 1, len(depths) - 1)
        gap = depths[below] - depths[above]
        fraction = ((depth - depths[above]) / np.where(gap > 0, gap, np.inf)).clip(0)
        fraction = within_phase(fraction, vs[above], vs[below])
        return complete(
            {name: v[above] + fraction * (v[below] - v[above]) for name, v in table.items()}
        )

    boundaries = ((depths[1:] + depths[:-1]) / 2)[np.diff(vs == 0)]
    kinks = np.concatenate([depths, boundaries])
    return Profile(np.unique(np.append(kinks[kinks > 0], 0.0)), 16, sample)


def within_phase(fraction: Reals, vs: Reals, next_vs: Reals) -> Reals:
    """The fraction for interpolation, rounded to 0 or 1 between a fluid and a solid."""
    if np.all(vs) and np.all(next_vs):
        return fraction  # all are solid
    mixed = (vs == 0) != (next_vs == 0)
    return np.where(mixed, fraction >= 0.5, fraction)
