"""From functions of one degree to those of a lower one on the same elements, and back.

Back, P u_c is the same function, by its values at more nodes: J u_c on each element, J being
interpolation along its three axes. Elements agree at nodes that they share, so each node takes the
value of one element that has it, its chosen one. Forth is the exact transpose, P' r: each node's
residual goes to its chosen element, J' makes coarse values of these, which are then assembled. So
neither wants values of other ranks on the fine side.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Constant, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.world import World
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Floats, Numbers
from groundswell.solvers.poisson.schwarz import blocks_for, elements_at_once
from groundswell.spectral_elements.elements import braced
from groundswell.spectral_elements.overlap import Messages, apart
from groundswell.spectral_elements.space import Space

KERNELS = Path(__file__).with_name("kernels")

NOWHERE = -1


class Transfer(Messages):
    """Between two spaces on the same elements. All ranks must make it and run it together.

    Args:
        mask: 1 for fine values that are free, 0 for those that take part in nothing, assembled.
        r: fine residual, of which this rank's own is read.
        b: its transpose's result, coarse.
        e: coarse values, of which those that other ranks own are filled in.
        x: fine values, to whose own ones they are added.

    Attributes:
        down: launches that make b of r.
        up: launches that add e to x.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        fine: Space,
        coarse: Space,
        mask: Floats,
        r: Array,
        b: Array,
        e: Array,
        x: Array,
    ) -> None:
        local = backend.zeros((coarse.places.size,), b.dtype)
        self._gather = coarse.operation(backend, world, "gather", local, b)
        self._halo = coarse.operation(backend, world, "halo", e, e)
        module = backend.compile(transfer_source(r.dtype, fine.degree, coarse.degree))
        chosen = backend.to_device(choose(fine, mask).astype("i4"))
        places = backend.to_device(coarse.places.astype("i4"))

        def work(name: str, some: Numbers, *arrays: Array) -> list[Launch]:
            numbers, extent = (
                backend.to_device(some.astype("i4")),
                blocks_for(len(some), fine.degree),
            )
            arguments = (*arrays, numbers, len(some))
            return [module.launch(name, extent, *arguments)] if len(some) else []

        outer, inside = apart(coarse)
        restrict, prolong = (r, chosen, local), (e, places, chosen, x)
        self.down = [
            *work("restrict_elements", outer, *restrict),
            *self._gather.hidden_by(work("restrict_elements", inside, *restrict)),
        ]
        self.up = [
            *self._halo.hidden_by(work("prolong_elements", inside, *prolong)),
            *work("prolong_elements", outer, *prolong),
        ]
        self.launches = [*self.down, *self.up]


def choose(space: Space, mask: Floats) -> Numbers:
    """Of each element's nodes the place among assembled values, (elements, (N + 1)^3).

    NOWHERE but for the first element that has a node, where the rank owns it and it is free.
    """
    chosen = np.full(space.places.size, NOWHERE)
    places, first = np.unique(space.places, return_index=True)
    wanted = (places < space.sharing.own) & (mask[places] > 0)
    chosen[first[wanted]] = places[wanted]
    return chosen.reshape(space.places.shape)


def transfer_source(dtype: DTypeLike, fine: int, coarse: int) -> Source:
    """The kernels for values of a type, between two degrees."""
    matrix = gll(coarse).interpolation(gll(fine).points)
    double = precision(dtype)
    constants: dict[str, Constant] = {
        "FINE": fine + 1,
        "COARSE": coarse + 1,
        "ELEMENTS": elements_at_once(fine),
        "INTERPOLATION": braced(matrix),
        "TRANSPOSED": braced(matrix.T),
    }
    return Source(KERNELS / "transfer.h", {**double, **constants})
