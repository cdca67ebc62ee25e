"""Attenuation of dg_scheme.py: memory variables of a generalised Maxwell body at each node.

Section 3 of Kaeser, Dumbser, de la Puente & Igel, Geophys. J. Int. 168:224 (2007), written as
    dS/dt = C : e - sum_l C_l : theta_l,    dtheta_l/dt = omega_l (e - theta_l)
with tensors: e the strain rate, theta_l (3, 3) at each node, C and C_l isotropic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dg_scheme import SHEARS, Scheme

from groundswell.arrays import Floats


@dataclass(frozen=True, eq=False)
class Anelastic:
    """A scheme with memory variables; its moduli are the unrelaxed ones.

    Args:
        omega: relaxation frequencies, (mechanisms,).
        p, s: fractions of lambda + 2 mu and of mu that mechanisms relax, (elements, mechanisms).
    """

    scheme: Scheme
    omega: Floats
    p: Floats
    s: Floats

    def rates(self, u: Floats, memory: Floats) -> tuple[Floats, Floats]:
        """du/dt, and that of the memory variables.

        Args:
            u: (elements, fields, n, n, n).
            memory: xx, yy, zz and twice yz, xz, xy of theta, or its trace in acoustic equations,
                (elements, mechanisms, 6 or 1, n, n, n).
        """
        fields, variables = self.scheme.rates(u), np.empty_like(memory)
        if not memory.size:
            return fields, variables
        decay = self.scheme.of_nodes(self.scheme.damping)
        for element in range(self.scheme.count):
            _, gradient = self.scheme.slopes(u, element)
            slope = np.moveaxis(gradient, -4, 1)  # (axis, component, ...)
            e = as_fields((slope + slope.swapaxes(0, 1)) / 2, memory.shape[2])
            for n, omega in enumerate(self.omega):
                theta = memory[element, n]
                variables[element, n] = omega * (e - theta) - decay[element] * theta
                fields[element] -= self._taken(element, n, theta, u.shape[1])
        return fields, variables

    def _taken(self, element: int, n: int, theta: Floats, fields: int) -> Floats:
        """The product of mechanism n, C_n : theta, as rates of the fields."""
        found = np.zeros((fields, *theta.shape[1:]))
        lam, mu = self.scheme.lam[element], self.scheme.mu[element]
        relaxed_mu = mu * self.s[element, n]
        relaxed_lam = (lam + 2 * mu) * self.p[element, n] - 2 * relaxed_mu
        if fields == 4:
            found[0] = -relaxed_lam * theta[0]
            return found
        found[:3] = relaxed_lam * theta[:3].sum(axis=0) + 2 * relaxed_mu * theta[:3]
        found[3:6] = relaxed_mu * theta[3:]
        return found


def as_fields(strain: Floats, count: int) -> Floats:
    """The six memory variables of a tensor (3, 3, ...), or its trace."""
    normal = [strain[d, d] for d in range(3)]
    if count == 1:
        return np.sum(normal, axis=0)[None]
    return np.stack([*normal, *(2 * strain[a, b] for a, b in SHEARS)])
