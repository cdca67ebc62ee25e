"""What flows in through the sides of a domain: integrals of k du/dn, such as heat.

On fixed sides they follow from the equation at their nodes (consistent flux), so that all flows and
the source balance exactly. At a node where fixed sides meet, that yields their sum only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.spectral_elements.boundary import TaggedFaces

Sides = tuple[int, ...]  # tags of one side, or of fixed sides that meet


class SideFlows:
    """The sides through which something flows. All ranks must make and use it together.

    Args:
        equation: with the conditions; of their functions only h is used.
        faces: those of sides with a flux or heat transfer.
    """

    def __init__(self, system: LinearSystem, equation: Equation, faces: TaggedFaces) -> None:
        self._system, self._equation, self._faces = system, equation, faces

    @cached_property
    def fixed(self) -> dict[Sides, Integers]:
        """Indices of this rank's own values on fixed sides; those that meet are one."""
        space, tags = self._system.space, [*self._equation.fixed]
        on_side = {tag: space.on_boundary([tag])[: space.own] for tag in tags}
        groups = meeting(on_side, space.comm)
        masks = {sides: np.any([on_side[tag] for tag in sides], axis=0) for sides in groups}
        return {sides: np.flatnonzero(mask) for sides, mask in masks.items()}

    @cached_property
    def transfer(self) -> dict[Sides, tuple[Integers, Floats]]:
        """Nodes of this rank's elements on sides with heat transfer, and integrals of h there."""
        width = self._system.space.dofs.shape[1]
        found: dict[Sides, tuple[Integers, Floats]] = {}
        for tag, side in self._equation.robin.items():
            weights = self._faces.integrate({tag: side.h}, "h of side {}".format)
            row, node = np.nonzero(weights)
            found[tag,] = self._faces.outside[row] * width + node, weights[row, node]
        return found

    def measure(
        self, inflows: Mapping[int, float], load: Floats | None, values: Floats
    ) -> dict[Sides, float]:
        """The integral of k du/dn over each side with a condition: what flows in there, by tag.

        Args:
            inflows: this rank's part of what flows in where u is 0, by tag.
            load: integrals of the source and over sides, assembled; not used without fixed sides.
            values: u at this rank's nodes, (elements, (N + 1)^3).
        """
        mine: dict[Sides, float] = {(tag,): inflow for tag, inflow in inflows.items()}
        for sides, (nodes, weights) in self.transfer.items():
            mine[sides] -= float(weights @ values.ravel()[nodes])
        if self._equation.fixed:
            assert load is not None
            reactions = self._system.reactions(load, values)
            mine |= {sides: float(reactions[own].sum()) for sides, own in self.fixed.items()}
        each = self._system.space.comm.allgather(mine)
        return {sides: float(sum(flows[sides] for flows in each)) for sides in mine}


def by_name(flows: Mapping[Sides, float], tags: Mapping[str, int]) -> dict[str, float]:
    """Flows by the names of sides; those of sides that share one are joined by commas."""
    names = {tag: name for name, tag in tags.items()}
    return {", ".join(names[tag] for tag in sides): flow for sides, flow in flows.items()}


def meeting(on_side: Mapping[int, np.ndarray], comm: Communicator) -> list[Sides]:
    """Groups of fixed sides that meet on any rank; collective.

    Args:
        on_side: whether this rank's own values are on each side, by tag.
    """
    mine = [(a, b) for a in on_side for b in on_side if a < b and (on_side[a] & on_side[b]).any()]
    everywhere = {pair for pairs in comm.allgather(mine) for pair in pairs}
    return _connected(on_side, sorted(everywhere))


def _connected(tags: Iterable[int], pairs: Collection[tuple[int, int]]) -> list[Sides]:
    """Groups of tags that pairs connect, in the order of the tags."""
    group = {tag: {tag} for tag in tags}
    for a, b in pairs:
        merged = group[a] | group[b]
        group |= dict.fromkeys(merged, merged)
    return list(dict.fromkeys(tuple(t for t in group if t in group[tag]) for tag in group))
