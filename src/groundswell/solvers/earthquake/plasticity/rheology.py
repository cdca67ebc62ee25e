"""Launches and exchanges that yielding adds to a time step; none in linear rock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import Field
from groundswell.outputs.distributed_array import DistributedArray

Boxes = tuple[Sequence[Block], Sequence[Block]]  # to update before an exchange, and during it
Exchanges = Sequence[HaloExchange]  # of velocities, of stresses, and those of `exchanges`
MakeExchange = Callable[..., HaloExchange]  # of ghost fields and a decomposition


class Rheology:
    """Linear rock, and the base class of rock and soil that yield, in a rank's part of the grid.

    Attributes:
        fields: of all cells of the part, by name.
        peaks: further arguments of the update of stresses.
    """

    fields: Mapping[str, Field] = {}
    peaks: Mapping[str, DeviceArray] = {}

    def exchanges(
        self, fields: Mapping[str, Field], decomposition: Decomposition, make: MakeExchange
    ) -> Exchanges:
        """The exchanges that a step needs besides those of velocities and stresses."""
        return ()

    def advance(
        self, velocities: Mapping[str, DeviceArray], exchanges: Exchanges
    ) -> Sequence[Launch]:
        """The launches between the updates of velocities and of stresses."""
        return ()

    def release(self, stresses: Mapping[str, DeviceArray], box: Block) -> Sequence[Launch]:
        """The launches after the update of the stresses of a box."""
        return ()

    def complete(
        self,
        update: Callable[[HaloExchange], list[Launch]],
        stresses: Mapping[str, DeviceArray],
        boxes: Boxes,
        exchanges: Exchanges,
        *,
        yields: bool,
    ) -> list[Launch]:
        """The launches that update the stresses and their halo.

        Args:
            update: function that returns those of linear rock, with the exchange that follows.
            yields: whether anything yields, if it can.
        """
        return update(exchanges[1])

    def state(self) -> dict[str, DistributedArray]:
        """The arrays besides `fields` that later steps depend on."""
        return {}
