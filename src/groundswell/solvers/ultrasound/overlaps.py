"""Exchange of the overlaps of windows between ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import Triple


class ExchangeOverlaps:
    """Composes launches that fill the overlaps of arrays, see `FillOverlaps`.

    Args:
        overlap: points of overlap (x, y, z).
        make: function that returns an exchange of the ghosts of arrays; all ranks call it together.
        hidden: whether the exchange runs during other launches where possible.
    """

    def __init__(
        self,
        overlap: Triple,
        make: Callable[[Sequence[Ghosts], Sequence[DeviceArray]], HaloExchange],
        *,
        hidden: bool = True,
    ) -> None:
        width = overlap[::-1]
        self._ghosts = Ghosts(width, width, corners=True)
        self._make, self._hidden = make, hidden
        self._made: dict[tuple[int, ...], HaloExchange] = {}  # by the identities of their arrays

    def __call__(
        self,
        arrays: Sequence[DeviceArray],
        boundary: Sequence[Launch] = (),
        interior: Sequence[Launch] = (),
    ) -> list[Launch]:
        """The launches, in order; see `FillOverlaps` for the arguments."""
        exchange = self._exchange_of(arrays)
        if self._hidden and boundary and interior:
            return exchange.overlap_with(boundary=boundary, interior=interior)
        return [*boundary, *interior, *exchange.launches]

    def _exchange_of(self, arrays: Sequence[DeviceArray]) -> HaloExchange:
        key = tuple(map(id, arrays))
        if key not in self._made:
            self._made[key] = self._make([self._ghosts] * len(arrays), arrays)
        return self._made[key]
