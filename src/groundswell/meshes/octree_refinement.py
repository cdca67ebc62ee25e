"""Refinement of forests of octrees by a criterion, and 2:1 balance.

Burstedde, Wilcox & Ghattas, SIAM J. Sci. Comput. 33, 2011; Sundar, Sampath & Biros, SIAM J. Sci.
Comput. 30, 2008; see `groundswell.meshes.octree`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.errors import InputError, listed
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.morton import decode, encode
from groundswell.meshes.octree import Forest, Levels, cells_along, require_level

# Both take the lower and upper corners of leaves, each (leaves, 3), m, and return (leaves,).
Criterion = Callable[[Floats, Floats], Mask]
BoxLengths = Callable[[Floats, Floats], Floats]

_ACROSS = {"faces": 1, "edges": 2, "corners": 3}  # axes along which neighbours may be displaced


def refine(forest: Forest, wanted: Criterion, max_level: int) -> Forest:
    """Divide leaves recursively into eight as long as a criterion requests it.

    Args:
        wanted: returns whether to divide leaves, (leaves,), from their lower and upper corners,
            each (leaves, 3), m.
        max_level: leaves of this level are not divided.

    Raises:
        InputError: the level is out of range, or the result of `wanted` has a wrong shape or type.
    """
    require_level(forest.roots, max_level)

    def chosen(keys: Integers, levels: Levels) -> Mask:
        found = levels < max_level
        found[found] = _asked(wanted, *forest.boxes_of(keys[found], levels[found]))
        return found

    return _divide(forest, forest.keys, forest.levels, chosen)


def longest_edges(lower: Floats, upper: Floats) -> Floats:
    """The longest edges of boxes, (boxes,), m, from their corners, each (boxes, 3), m."""
    return np.asarray((upper - lower).max(axis=1))


def resolve_wavelength(
    wavelength: BoxLengths, factor: float, longest: BoxLengths = longest_edges
) -> Criterion:
    """A criterion for `refine` that makes the number of leaves per wavelength nearly uniform.

    Leaves are divided while their longest edge exceeds `factor` times the smallest wavelength.

    Args:
        wavelength: returns the smallest wavelength in each leaf, m, above 0.
        factor: the longest allowed edge over the smallest wavelength, above 0.
        longest: returns the longest edge of each leaf, m.

    Raises:
        InputError: the factor is not above 0. The criterion raises it if a wavelength is not.
    """
    if not factor > 0:
        raise InputError(f"factor = {factor}; allowed: above 0")

    def wanted(lower: Floats, upper: Floats) -> Mask:
        shortest = np.asarray(wavelength(lower, upper), float)
        if not (shortest > 0).all():
            raise InputError(
                f"a smallest wavelength of {shortest[~(shortest > 0)].flat[0]} m; allowed: above 0"
            )
        return np.asarray(longest(lower, upper) > factor * shortest)

    return wanted


def balance(forest: Forest, across: str = "faces") -> Forest:
    """The smallest refinement in which levels of neighbours differ by at most one.

    If an octant is divided, its neighbours of the same size must exist as leaves or be divided
    themselves; therefore their parents are divided. One pass from the deepest level upwards finds
    all of these octants (Sundar, Sampath & Biros).

    Args:
        across: which leaves count as neighbours: those that share "faces", also those that share
            only "edges", or also those that share only "corners".

    Raises:
        InputError: `across` has another value.
    """
    if across not in _ACROSS:
        raise InputError(f"across = {across!r}; allowed: {listed(_ACROSS)}")
    steps = np.stack(np.meshgrid(*[np.arange(-1, 2)] * AXES), axis=-1).reshape(-1, AXES)
    steps = steps[np.abs(steps).sum(axis=1) <= _ACROSS[across]]
    divided = [*_divided(forest, steps), forest.keys[:0]]  # the deepest level is not divided

    def chosen(keys: Integers, levels: Levels) -> Mask:
        return np.isin(keys, divided[int(levels[0])], assume_unique=True)

    roots = _parents(forest, forest.keys, 0)
    return _divide(forest, roots, np.zeros(len(roots), np.int8), chosen)


def _divided(forest: Forest, steps: Integers) -> list[Integers]:
    """Keys of the octants of each level that a balanced forest divides, from level 0 on.

    Args:
        steps: displacements to an octant's neighbours and to itself, in edges, (neighbours, 3).
    """
    found, required = [], forest.keys[:0]
    for level in range(int(forest.levels.max()) - 1, -1, -1):
        octants = np.concatenate([forest.keys[forest.levels == level + 1], required])
        parents = _parents(forest, octants, level)
        found.append(parents)
        required = _beside(forest, parents, level, steps)
    return found[::-1]


def _beside(forest: Forest, keys: Integers, level: int, steps: Integers) -> Integers:
    """Keys of octants of one level displaced by `steps`, without those outside the box."""
    size = 1 << forest.max_level - level
    cells, inside = forest.wrap(decode(keys)[:, None] + size * steps)
    return encode(cells[inside])


def _parents(forest: Forest, keys: Integers, level: int) -> Integers:
    """Distinct keys of the octants of one level that contain others, ascending."""
    bits = AXES * (forest.max_level - level)
    return np.unique(keys >> bits << bits)


def _divide(
    forest: Forest, keys: Integers, levels: Levels, chosen: Callable[[Integers, Levels], Mask]
) -> Forest:
    """Divide octants that fill the box, and their children, while they are chosen.

    Args:
        keys, levels: the octants, each (octants,).
        chosen: returns whether to divide octants, from their keys and levels.
    """
    done = []
    while len(keys):
        divided = chosen(keys, levels)
        done.append((keys[~divided], levels[~divided]))
        keys, levels = _children(forest, keys[divided], levels[divided])
    keys, levels = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.argsort(keys)
    return replace(forest, keys=keys[order], levels=levels[order])


def _children(forest: Forest, keys: Integers, levels: Levels) -> tuple[Integers, Levels]:
    """Keys and levels of the eight children of octants, each (8 octants,)."""
    levels = levels + np.int8(1)
    volumes = cells_along(forest.max_level, levels) ** AXES
    return (keys[:, None] + volumes[:, None] * np.arange(8)).ravel(), np.repeat(levels, 8)


def _asked(wanted: Criterion, lower: Floats, upper: Floats) -> Mask:
    """The result of a criterion."""
    if not len(lower):
        return np.empty(0, bool)
    found = np.asarray(wanted(lower, upper))
    if found.shape != (len(lower),) or found.dtype != bool:
        raise InputError(
            f"the criterion returned {found.dtype} of shape {found.shape}; return bool of shape "
            f"({len(lower)},), one value per leaf"
        )
    return found
