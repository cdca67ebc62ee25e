"""Mesh entities: the vertices, edges, faces and interiors of elements, on which all nodes lie.

An element has 27 entities, which are numbered like its nodes of degree 2. Elements that share an
entity share all its nodes, so a numbering of entities gives one of the nodes of every degree. An
edge or face numbers the nodes inside it along axes of its own, against which the axes of an element
may be turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Integers

ENTITIES = 27
AXES = 3
# A turn is a sum of these: the element's first or second axis along the entity runs against the
# entity's, and the element's first axis is the entity's second one.
REVERSED, SECOND_REVERSED, SWAPPED, TURNS = 1, 2, 4, 8

Turns = NDArray[np.int8]
# The number of axes along each of an element's entities: 0 for vertices, 3 for the interior.
DIMENSIONS = np.sum(np.unravel_index(np.arange(ENTITIES), (3,) * AXES) == np.int64(1), axis=0)


class Entities(NamedTuple):
    """The entities of some elements.

    Args:
        ids: global ids, (elements, 27).
        turns: of their axes, (elements, 27); None if no entity is turned.
    """

    ids: Integers
    turns: Turns | None = None

    @classmethod
    def of_separate(cls, elements: Integers) -> Entities:
        """Those of elements with these numbers that share none."""
        return cls(elements[:, None] * ENTITIES + np.arange(ENTITIES))


@dataclass(frozen=True, eq=False)
class EntityNodes:
    """The nodes of a degree on the entities of an element; made by `entity_nodes`.

    Args:
        entity: which of the 27 entities has each node, ((degree + 1)^3,).
        steps: number of each node among those of its entity, by turn, (8, (degree + 1)^3).
        counts: number of nodes on each entity, (27,).
    """

    entity: Integers
    steps: NDArray[np.int32]
    counts: Integers

    def number(
        self, first: Integers, turns: Turns | None = None, strides: Integers | None = None
    ) -> Integers:
        """Number the nodes of elements, (elements, (degree + 1)^3), in the type of `first`.

        Args:
            first: number of the first node on each entity, (elements, 27).
            turns: see `Entities`.
            strides: from one node of an entity to the next, (elements, 27); 1 by default.
        """
        steps = self.steps[0]
        if turns is not None:
            steps = self.steps[turns[:, self.entity], np.arange(len(self.entity))]
        found = first[:, self.entity]
        found += steps if strides is None else steps * strides[:, self.entity]
        return found


@cache
def entity_nodes(degree: int) -> EntityNodes:
    """The nodes of a degree on the entities of an element."""
    inner, n = degree - 1, degree + 1
    places = np.stack(np.unravel_index(np.arange(n**AXES), (n,) * AXES)[::-1])  # along r, s, t
    sides = np.where(places == degree, 2, np.minimum(places, 1))
    entity = sides[0] + 3 * sides[1] + 9 * sides[2]
    # The axes along an entity first, in their order.
    order = np.argsort(sides != 1, axis=0, kind="stable")
    inside = np.where(np.sort(sides != 1, axis=0), 0, np.take_along_axis(places, order, 0) - 1)
    steps = np.stack([_steps(inside, DIMENSIONS[entity], inner, turn) for turn in range(TURNS)])
    counts = np.bincount(entity, minlength=ENTITIES)
    for array in (entity, steps, counts):
        array.setflags(write=False)  # the result is cached and shared
    return EntityNodes(entity, steps.astype(np.int32), counts)


def _steps(inside: Integers, dimensions: Integers, inner: int, turn: int) -> Integers:
    """The number of each node within its entity, for one turn.

    Args:
        inside: places of the nodes along the axes of their entities, (3, nodes).
    """
    u, v, w = inside
    u = np.where((dimensions > 0) & bool(turn & REVERSED), inner - 1 - u, u)
    v = np.where((dimensions > 1) & bool(turn & SECOND_REVERSED), inner - 1 - v, v)
    if turn & SWAPPED:
        u, v = np.where(dimensions > 1, [v, u], [u, v])
    return np.asarray(u + inner * (v + inner * w))
