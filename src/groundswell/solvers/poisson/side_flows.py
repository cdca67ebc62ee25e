"""What flows in through the sides of a domain: integrals of k du/dn, such as heat.

On fixed sides they follow from the equation at their nodes (consistent flux), so that all flows and
the source balance exactly. At a node where fixed sides meet, that yields their sum only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.poisson.equation import Equation
from groundswell.spectral_elements.boundary import Function, integrate_over_faces
from groundswell.spectral_elements.space import FunctionSpace

Sides = tuple[int, ...]  # tags of one side, or of fixed sides that meet


def flows_given(equation: Equation, space: FunctionSpace, values: Floats) -> dict[Sides, float]:
    """This rank's part of the flows through sides with a flux or heat transfer.

    Args:
        values: u at the nodes, (elements, (N + 1)^3).
    """

    def integral(tag: int, function: Function) -> Floats:
        return integrate_over_faces(space.mesh, space.degree, space.elements, {tag: function})

    found: dict[Sides, float] = {}
    for tag, flux in equation.fluxes.items():
        found[tag,] = float(integral(tag, flux).sum())
    for tag, side in equation.robin.items():
        inflow = integral(tag, side.inflow) - integral(tag, side.h) * values
        found[tag,] = float(inflow.sum())
    return found


def flows_fixed(
    reactions: Floats, dofs: Mapping[int, Integers], comm: Communicator
) -> dict[Sides, float]:
    """This rank's part of the flows through fixed sides; collective.

    Args:
        reactions: A u - b at fixed nodes, (values,).
        dofs: assembled values on each side, by tag.
    """
    on_side = {tag: np.zeros(len(reactions), bool) for tag in dofs}
    for tag, numbers in dofs.items():
        on_side[tag][numbers] = True
    meeting = [(a, b) for a in dofs for b in dofs if a < b and (on_side[a] & on_side[b]).any()]
    everywhere = {pair for pairs in comm.allgather(meeting) for pair in pairs}
    return {
        sides: float(reactions[np.any([on_side[tag] for tag in sides], axis=0)].sum())
        for sides in _connected(dofs, sorted(everywhere))
    }


def _connected(tags: Iterable[int], pairs: Collection[tuple[int, int]]) -> list[Sides]:
    """Groups of tags that pairs connect, in the order of the tags."""
    group = {tag: {tag} for tag in tags}
    for a, b in pairs:
        merged = group[a] | group[b]
        group |= dict.fromkeys(merged, merged)
    return list(dict.fromkeys(tuple(t for t in group if t in group[tag]) for tag in group))
