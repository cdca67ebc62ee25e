"""What users ask of an exchange: shapes, layers, arrays; checked, and completed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from groundswell.backends import Array, Backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import AXES
from groundswell.exchange.decomposition import Block, Index
from groundswell.exchange.messages import GhostField
from groundswell.exchange.overlap import Box
from groundswell.exchange.pattern import Ghosts

Layers = int | Sequence[int | tuple[int, int]] | Ghosts
Slices = tuple[slice, ...]


@dataclass(frozen=True, eq=False)
class Field:
    """An array whose exchange differs from what its domain says.

    Args:
        array: the domain's axes are its last ones; axes before them count components.
        ghosts: the layers to fill, as for `Domain`; None for the domain's.
        origin: index of the first own point along the domain's axes; None if the array has as many
            layers as the domain, or as `ghosts`, on each side.
        sent_as: a narrower type for values on their way: "float32", "float16", "bfloat16".
    """

    array: Any
    ghosts: Layers | None = None
    origin: Sequence[int] | None = None
    sent_as: str | None = None


@dataclass(frozen=True, eq=False)
class Borrowed:
    """A user's array and what is to be done with it, in full."""

    owner: Any
    view: Array
    origin: Index
    ghosts: Ghosts
    sent_as: str | None

    def key(self, backend: Backend) -> tuple[Any, ...]:
        """What tells it from others; steps along axes of length 1 do not."""
        shape = self.view.shape
        steps = tuple(s * (n > 1) for n, s in zip(shape, self.view.strides, strict=True))
        return backend.address(self.view), shape, steps, *self.terms

    @property
    def terms(self) -> tuple[Any, ...]:
        """What must be the same on all ranks."""
        return self.view.dtype.str, self._components, self.origin, self.ghosts, self.sent_as

    @property
    def _components(self) -> Index:
        return tuple(self.view.shape[: self.view.ndim - len(self.origin)])

    def fields(self) -> Iterator[GhostField]:
        """Each component."""
        for component in np.ndindex(self._components):
            yield GhostField(self.view[component], self.origin, self.ghosts, self.sent_as)


def points(shape: Sequence[int]) -> Index:
    """The shape of a whole array."""
    try:
        points = tuple(index(n) for n in shape)
    except TypeError:
        points = ()
    if not 1 <= len(points) <= AXES or min(points) < 1:
        raise InputError(f"shape = {shape!r}: give one to {AXES} whole numbers above zero")
    return points


def for_each(value: Any, axes: int) -> tuple[Any, ...]:
    """One value for each axis."""
    values = tuple(value) if isinstance(value, (Sequence, np.ndarray)) else (value,) * axes
    if len(values) != axes:
        raise InputError(f"{value!r}: give one value, or one for each of {axes} axes")
    return values


def layers(given: Layers, axes: int, corners: bool) -> Ghosts:
    """Ghost layers, with corners or without unless they say it themselves."""
    if not isinstance(given, Ghosts):
        widths = [for_each(width, 2) for width in for_each(given, axes)]
        low, high = zip(*widths, strict=True)
        if not all(isinstance(n, (int, np.integer)) for n in (*low, *high)):
            raise InputError(f"ghosts = {given!r} must be whole numbers")
        return Ghosts(tuple(map(int, low)), tuple(map(int, high)), bool(corners))
    if len(given.low) != axes:
        raise InputError(f"{given} has {len(given.low)} axes, and the domain {axes}")
    return given


def no_layers(axes: int) -> Ghosts:
    """None at all."""
    return Ghosts((0,) * axes, (0,) * axes)


def extents(block: Block, layers: Ghosts) -> Index:
    """Points of a block with its layers."""
    sides = zip(layers.low, block.shape, layers.high, strict=True)
    return tuple(low + n + high for low, n, high in sides)


def slices(first: Index, box: Box) -> Slices:
    """A box of own points in an array whose first own point is at `first`."""
    runs = zip(first, box.start, box.shape, strict=True)
    return tuple(slice(f + s, f + s + n) for f, s, n in runs)
