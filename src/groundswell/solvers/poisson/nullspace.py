"""What makes u unique: a side where it is prescribed, screening, or else its mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.world import World
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats, Hexahedra
from groundswell.meshes.partition import bodies

# Of what loads come to, over their sizes: a warning is due above the first; above the second it is
# no longer what rules of integration leave of a source that jumps.
SILENT_LEFT, MOST_LEFT = 1e-3, 0.1


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

    def balanced(self, source: Floats, fluxes: Floats | None) -> tuple[Floats, float]:
        """Their sum, less a constant source that takes up what is left of all, and that's share.

        Args:
            source, fluxes: integrals that nodes have, (elements, (N + 1)^3).

        Raises:
            InputError: the share, of the sizes of both, is too much for that.
        """
        parts = [source] if fluxes is None else [source, fluxes]
        left = sum(self._over_all(part) for part in parts)
        size = sum(self._over_all(np.abs(part)) for part in parts)
        share = abs(left) / (size or 1.0)
        self.world.agree(lambda: require_cancelling(left, share))
        taken = left / self._over_all(self.mass) * self.mass
        return sum(parts, -taken), share

    def without_rest(self, b: Floats, own: int) -> Floats:
        """An assembled right-hand side whose own entries come to 0 over all ranks, to rounding."""
        b[:own] -= self._over_all(b[:own]) / sum(self.world.share(own))
        return b

    def shifted(self, values: Floats) -> Floats:
        """Values at nodes, less a constant."""
        found = self._over_all(self.mass * values) / self._over_all(self.mass)
        return values + (self.value - found)

    def _over_all(self, values: Floats) -> float:
        return float(sum(self.world.share(float(values.sum()))))


def require_cancelling(left: float, share: float) -> None:
    """See that what loads come to is little beside their sizes; raises InputError."""
    if share > MOST_LEFT:
        raise InputError(
            f"the source and what flows in through sides come to {left:.6g}, {share:.2g} of their "
            "sizes; where only u's mean is given they must cancel: change one, or give a screening "
            "or a side where u is prescribed; if they do, refine the mesh or raise the degree"
        )
