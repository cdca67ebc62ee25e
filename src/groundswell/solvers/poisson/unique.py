"""What makes u unique: a side where it is prescribed, screening, or else its mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.world import World
from groundswell.grids.box import Box
from groundswell.grids.hexahedra import Floats, Hexahedra
from groundswell.grids.partition import bodies

MOST_LEFT = 1e-3  # of what loads come to, over their sizes: more than rules of integration leave


def require_unique(
    mesh: Hexahedra, fixed: Collection[int], screening: float, mean: float | None
) -> None:
    """See that something determines u, and nothing does so twice; raises InputError."""
    if mean is None:
        if not screening:
            require_held(mesh, fixed)
        return
    if screening or fixed:
        raise InputError(
            f"mean = {mean:g}, but a screening or a side where u is prescribed determines u: leave "
            "it out"
        )
    if not isinstance(mesh, Box) and (count := len(np.unique(bodies(mesh)))) > 1:
        raise InputError(
            f"mean = {mean:g} of a mesh of {count} bodies, each of which wants one: solve for one "
            "after the other"
        )


def require_held(mesh: Hexahedra, fixed: Collection[int]) -> None:
    """See that u is fixed somewhere in each part of the mesh that hangs together.

    Raises:
        InputError: it is not, and nothing else determines it.
    """
    whole = isinstance(mesh, Box)
    looked = np.array([0, mesh.count - 1]) if whole else np.arange(mesh.count)  # a box's have all
    held = np.isin(mesh.tags(looked), tuple(fixed)).any(axis=1)
    parts = np.zeros(len(looked), int) if whole else bodies(mesh)
    loose = ~np.isin(parts, parts[held])
    if not loose.any():
        return
    where = "" if loose.all() else f" in {loose.sum()} elements, the first is {loose.argmax()}"
    raise InputError(
        "without screening, and with no side where u is prescribed, any constant may be added to "
        f"u{where}: give a screening above 0, a side, or u's mean"
    )


@dataclass(frozen=True, eq=False)
class Mean:
    """Of a u to which any constant may be added: what is to be done on account of that.

    The entries of A u add up to 0, so those of the right-hand side must.

    Args:
        mass: at this rank's nodes, (elements, (N + 1)^3).
        value: u's mean over the domain.
    """

    world: World
    mass: Floats
    value: float

    def balanced(self, loads: Floats) -> Floats:
        """Loads that cancel, since a constant source takes up what their integration leaves.

        Raises:
            InputError: what is left is too much for that.
        """
        left, size = self._over_all(loads), self._over_all(np.abs(loads))
        self.world.agree(lambda: require_cancelling(left, size))
        return loads - left / self._over_all(self.mass) * self.mass

    def without_rest(self, b: Floats, own: int) -> Floats:
        """An assembled right-hand side whose own entries come to 0 over all ranks, to rounding."""
        b[:own] -= self._over_all(b[:own]) / self._over_all(np.ones(own))
        return b

    def shifted(self, values: Floats) -> Floats:
        """Values at nodes, less a constant."""
        found = self._over_all(self.mass * values) / self._over_all(self.mass)
        return values + (self.value - found)

    def _over_all(self, values: Floats) -> float:
        return float(sum(self.world.share(float(values.sum()))))


def require_cancelling(left: float, size: float) -> None:
    """See that what loads come to is nothing beside their sizes; raises InputError."""
    if abs(left) > MOST_LEFT * size:
        raise InputError(
            f"the source and what flows in through sides come to {left:.6g}, "
            f"{abs(left) / size:.2g} of their sizes; where only u's mean is given they must "
            "cancel: change one, or give a screening or a side where u is prescribed"
        )
