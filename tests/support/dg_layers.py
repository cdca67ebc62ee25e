"""Matched layers of dg_scheme.py: derivatives along the normal of a layer, and their memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dg_scheme import Scheme
from numpy.typing import NDArray

from groundswell.arrays import Floats


@dataclass(frozen=True, eq=False)
class Layered:
    """A scheme with matched layers.

    Args:
        inside: whether an element is in a layer along x, y, z, (elements, 3).
        damping, decay: d and d + alpha at the nodes of a line along each axis, (elements, 3, n).
    """

    scheme: Scheme
    inside: NDArray[np.bool_]
    damping: Floats
    decay: Floats

    def rates(self, u: Floats, psi: Floats) -> tuple[Floats, Floats]:
        """du/dt, and that of the memory.

        Args:
            u: (elements, fields, n, n, n).
            psi: of the derivatives along each axis of velocity and of the traction normal to it,
                (elements, 3, 2, 3, n, n, n).
        """
        fields, memory = np.empty_like(u), np.zeros_like(psi)
        for element in range(self.scheme.count):
            forces, gradient = self.scheme.slopes_by_axis(u, element)
            for axis in np.flatnonzero(self.inside[element]):
                old, found = psi[element, axis], np.stack([gradient[axis], forces[axis]])
                d, decay = (along(f[element, axis], axis) for f in (self.damping, self.decay))
                memory[element, axis] = -decay * old - d * found
                gradient[axis] += old[0]
                forces[axis] += old[1]
            slopes = forces.sum(axis=0), gradient
            fields[element] = self.scheme._material(element, *slopes, u.shape[1])
        return fields, memory


def along(line: Floats, axis: int) -> Floats:
    """Values of a line of nodes along an axis, which broadcast to (n, n, n)."""
    return line.reshape([-1 if d == axis else 1 for d in (2, 1, 0)])
