"""Solutions that are determined up to a constant: balanced sources and prescribed means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.hexahedra import Floats

# Imbalance of source and fluxes over their absolute sums: above the first a warning is due; above
# the second it is more than quadrature leaves of a source with jumps.
WARN_ABOVE, MAX_IMBALANCE = 1e-3, 0.1


@dataclass(frozen=True, eq=False)
class MeanConstraint:
    """Makes u unique by its mean where it is determined only up to a constant.

    The entries of A u sum to 0, so those of the right-hand side must.

    Args:
        mass: at this rank's nodes, (elements, (N + 1)^3).
        mean: of u over the domain.
    """

    comm: Communicator
    mass: Floats
    mean: float

    def balance(self, source: Floats, fluxes: Floats | None) -> tuple[Floats, float]:
        """Add up source and fluxes, and a constant source that makes them cancel.

        Args:
            source, fluxes: integrals at the nodes, (elements, (N + 1)^3).

        Returns:
            The balanced right-hand side, and the imbalance over the sum of absolute values.

        Raises:
            InputError: the imbalance is too large.
        """
        parts = [source] if fluxes is None else [source, fluxes]
        rest = sum(self._sum(part) for part in parts)
        size = sum(self._sum(np.abs(part)) for part in parts)
        imbalance = abs(rest) / (size or 1.0)
        self.comm.collective_try(lambda: require_balanced(rest, imbalance))
        constant = rest / self._sum(self.mass) * self.mass
        return sum(parts, -constant), imbalance

    def remove_rounding(self, b: Floats, own: int) -> Floats:
        """Make the own entries of an assembled right-hand side sum to 0 over all ranks."""
        b[:own] -= self._sum(b[:own]) / sum(self.comm.allgather(own))
        return b

    def shift(self, values: Floats) -> Floats:
        """Shift values at nodes to the prescribed mean."""
        mean = self._sum(self.mass * values) / self._sum(self.mass)
        return values + (self.mean - mean)

    def _sum(self, values: Floats) -> float:
        """The sum over all ranks."""
        return float(sum(self.comm.allgather(float(values.sum()))))


def require_balanced(rest: float, imbalance: float) -> None:
    """Refuse a source and fluxes that are far from cancelling."""
    if imbalance > MAX_IMBALANCE:
        raise InputError(
            f"source and boundary fluxes sum to {rest:.6g}, {imbalance:.2g} of their absolute "
            "values; where only the mean of u is given they must cancel; change one of them, or "
            "give a screening, or a fixed or robin side; if they do cancel, refine the mesh "
            "or raise the degree"
        )
