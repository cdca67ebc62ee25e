"""The exact reflection of plane waves from a discrete absorbing layer, by frequency.

Velocities and stresses on a line across the layer, which vary as exp(i omega t - i k x) along it. A
source of P or S waves radiates towards the layer; the same line with a very long, gently growing
absorber in the layer's place tells the direct wave, and what is left is the reflection. Differences
along the line are the grid's; k is given its discrete value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from groundswell.arrays import Complexes

Profile = Callable[[float], tuple[Complexes, Complexes]]  # frequency to 1/s on faces and at centres

FREE = 30  # cells between the absorbers at the line's ends


class PlaneWaveReflection:
    """A line across a layer, in a solid of speeds `vp` and `vs` (m/s), cells of `h` (m)."""

    def __init__(self, vp: float, vs: float, h: float, dt: float) -> None:
        self.vp, self.vs, self.h, self.dt = vp, vs, h, dt

    def coefficient(self, wave: str, points: float, angle: float, layer: Profile) -> float:
        """Largest reflected over largest direct velocity, at `points` cells a wavelength.

        `angle` of incidence in degrees; `layer` gives 1/s from its inner edge outwards.
        """
        speed = self.vp if wave == "P" else self.vs
        f = speed / (points * self.h)
        omega = 2 / self.dt * np.sin(np.pi * f * self.dt)
        k = omega / speed * np.sin(np.radians(angle))
        self._long = long = max(250, round(1.5 * points))  # cells of the absorbers
        gentle, ahead = absorber(0.5, long), absorber(0.0, long)
        start = ahead[::-1], gentle[::-1]
        motions = [
            self._motion(omega, k, wave, *(np.concatenate([a, np.ones(FREE), b]) for a, b in ends))
            for ends in (
                zip(start, layer(f), strict=True),
                zip(start, (ahead, gentle), strict=True),
            )
        ]
        there, direct = (motion[:, long + 10 : long + FREE] for motion in motions)
        norms = [np.sqrt((np.abs(v) ** 2).sum(axis=0).max()) for v in (there - direct, direct)]
        return float(norms[0] / norms[1])

    def _motion(
        self, omega: float, k: float, wave: str, faces: Complexes, centres: Complexes
    ) -> NDArray[np.complex128]:
        """Velocity along and across the layer, (2, cells), with density 1."""
        n = len(faces)
        a, b = 9 / 8 / self.h, 1 / 24 / self.h
        forward = sp.diags_array([b, -a, a, -b], offsets=[-1, 0, 1, 2], shape=(n, n))
        backward = sp.diags_array([b, -a, a, -b], offsets=[-2, -1, 0, 1], shape=(n, n))
        up, down = sp.diags_array(centres) @ forward, sp.diags_array(faces) @ backward
        along, one = -1j * k, sp.eye_array(n)
        p, mu = self.vp**2, self.vs**2
        lam = p - 2 * mu
        # omega^2 v + div C : grad v = source
        blocks = [
            [omega**2 * one + along**2 * p * one + mu * up @ down, along * (lam + mu) * up],
            [along * (lam + mu) * down, omega**2 * one + along**2 * mu * one + p * down @ up],
        ]
        order = np.arange(2 * n).reshape(2, n).T.ravel()  # a narrow band
        matrix = sp.block_array(blocks).tocsr()[order][:, order].tocsc()
        point = np.zeros(n, complex)
        point[self._long + 5] = 1
        source = [along * point, down @ point] if wave == "P" else [up @ point, -along * point]
        solution = splu(matrix, permc_spec="NATURAL").solve(np.concatenate(source)[order])
        return solution.reshape(n, 2).T


def absorber(offset: float, cells: int) -> Complexes:
    """1/s of a long layer whose damping, over omega, grows to 12 as the cube of depth."""
    depth = (np.arange(cells) + offset) / cells
    return 1 / (1 - 12j * depth**3)
