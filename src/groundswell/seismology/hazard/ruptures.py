"""Ruptures with annual rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed, quoted
from groundswell.seismology.hazard.magnitudes import moment_rate
from groundswell.seismology.hazard.surfaces import Surface


@dataclass(frozen=True)
class Rupture:
    """An earthquake that may happen.

    Args:
        name: unique name.
        magnitude: moment magnitude.
        rate: expected number per year.
        rake: direction of slip, degrees; None if unknown.
        surface: the rupture surface, if known; ground-motion models need it.
        is_on_map: whether maps show it; those of areas are everywhere.
    """

    name: str
    magnitude: float
    rate: float
    rake: float | None = None
    surface: Surface | None = None
    is_on_map: bool = True


class Ruptures(Sequence[Rupture]):
    """Independent ruptures: the rate of exceedance is the sum over them.

    Raises:
        InputError: there are none, or two have the same name.
    """

    def __init__(self, ruptures: Sequence[Rupture], source: object = "the ruptures") -> None:
        if not ruptures:
            raise InputError(f"{source}: there are no ruptures")
        repeated = [name for name, count in Counter(r.name for r in ruptures).items() if count > 1]
        if repeated:
            raise InputError(f"{source}: ruptures must differ in name; repeated: {some(repeated)}")
        self._ruptures = list(ruptures)

    def __len__(self) -> int:
        return len(self._ruptures)

    def __getitem__(self, n):  # type: ignore[no-untyped-def]
        return self._ruptures[n]

    @property
    def names(self) -> list[str]:
        """The name of each rupture."""
        return [rupture.name for rupture in self]

    @property
    def magnitudes(self) -> Floats:
        """The magnitude of each rupture."""
        return np.array([rupture.magnitude for rupture in self])

    @property
    def rates(self) -> Floats:
        """The annual rate of each rupture."""
        return np.array([rupture.rate for rupture in self])

    @property
    def moment_rate(self) -> float:
        """Moment released per year, N m."""
        return moment_rate(self.magnitudes, self.rates)

    def rupture_distances(self, sites: Floats) -> Floats:
        """Shortest distances (ruptures, sites) in m, NaN for ruptures without a surface."""
        unknown = np.full(len(sites), np.nan)
        surfaces = [rupture.surface for rupture in self]
        return np.array([s.distances(sites).rupture if s else unknown for s in surfaces])


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names as a list for a message."""
    words = [quoted(name) for name in names[:most]]
    return listed([*words, f"{len(names) - most} more"] if len(names) > most else words)
