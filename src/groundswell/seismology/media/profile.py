"""Media that vary with depth only, and averages of them over intervals of depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.media.material import Material, Values

# Interfaces that rounding places this close to an edge, in cells, are on it. A thin sliver of water
# would otherwise make a whole cell a fluid.
SLIVER = 1e-9


class Samples(NamedTuple):
    """Quadrature of intervals of depth, in ascending order.

    Args:
        depth: depth of each sample, m, (n,).
        weight: its share of its interval, (n,).
        interval: index of its interval, (n,).
    """

    depth: Values
    weight: Values
    interval: NDArray[np.intp]


@dataclass(frozen=True)
class Profile:
    """A medium that varies with depth only, smoothly between its interfaces.

    Args:
        interfaces: depths of jumps and kinks, m, ascending, with 0 for the surface.
        points: number of Gauss points that average it between two interfaces.
        sample: the material at depths (n,), m.
    """

    interfaces: Values
    points: int
    sample: Callable[[Values], Material]

    def quadrature(self, edges: Values) -> Samples:
        """Samples that average the medium over the intervals between ascending `edges`, m."""
        sliver = SLIVER * float(np.diff(edges).min())
        inside = self.interfaces[(self.interfaces > edges[0]) & (self.interfaces < edges[-1])]
        near = edges[np.abs(edges - inside[:, None]).argmin(axis=1)]
        cuts = np.unique(np.append(edges, inside[np.abs(near - inside) > sliver]))
        points, weights = np.polynomial.legendre.leggauss(self.points)
        middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
        interval = np.searchsorted(edges, middle) - 1
        share = (half / np.diff(edges)[interval])[:, None] * weights
        depth = middle[:, None] + half[:, None] * points
        return Samples(depth.ravel(), share.ravel(), np.repeat(interval, self.points))


def find_profile(medium: Any) -> Profile | None:
    """The profile of a medium that varies with depth only; None of any other medium."""
    profile: Profile | None = getattr(medium, "profile", None)
    return profile
