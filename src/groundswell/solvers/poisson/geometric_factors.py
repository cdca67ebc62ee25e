"""Geometric factors and mass of the weak Laplacian at the nodes of elements.

Integrals of gradients become those of reference derivatives times G = w |J| J^-1 J^-T, a symmetric
matrix at each node of weight w; the mass is w |J| (Deville, Fischer & Mund 2002, High-order methods
for incompressible fluid flow, sections 4.3 and 4.4; Chalmers et al. 2023, section "The NekBone
benchmark").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, positions
from groundswell.spectral_elements.geometry import (
    MetricTerms,
    TrilinearMaps,
    chunks,
    require_positive,
)

PAIRS = [(a, b) for a in range(AXES) for b in range(a, AXES)]  # rr, rs, rt, ss, st, tt


@dataclass(frozen=True, eq=False)
class GeometricFactors:
    """Geometric factors of elements.

    Args:
        factors: entries of G in the order of PAIRS, (elements, 6, (N + 1)^3).
        mass: (elements, (N + 1)^3).
    """

    factors: Floats
    mass: Floats

    @classmethod
    def of(cls, mesh: Hexahedra, degree: int, elements: ArrayLike) -> GeometricFactors:
        """The factors of these elements at the nodes of a degree.

        Raises:
            InputError: elements are inverted somewhere.
        """
        chosen, nodes = np.asarray(elements), (degree + 1) ** AXES
        factors = np.empty((len(chosen), len(PAIRS), nodes))
        mass = np.empty((len(chosen), nodes))
        for part in chunks(len(chosen), nodes):
            terms = MetricTerms.at_nodes(positions(mesh, degree, chosen[part]), degree)
            factors[part], mass[part] = _compute_factors(terms, degree)
        require_positive(mass, chosen)
        return cls(factors, mass)

    def diagonal(self, degree: int, screening: float) -> Floats:
        """The diagonal of each element's operator, (elements, (N + 1)^3)."""
        n, d = degree + 1, gll(degree).derivative
        rr, rs, rt, ss, st, tt = np.moveaxis(self.factors.reshape(-1, 6, n, n, n), 1, 0)
        along = [
            np.einsum(f"mi,e{axes}->e{axes.replace('m', 'i')}", d**2, factor)
            for factor, axes in ((rr, "tsm"), (ss, "tmr"), (tt, "msr"))
        ]
        own = np.diag(d)
        r, s, t = own, own[:, None], own[:, None, None]
        mixed = 2 * (r * s * rs + r * t * rt + s * t * st)
        return (sum(along) + mixed).reshape(self.mass.shape) + screening * self.mass


def affine_metric(maps: TrilinearMaps, screening: float) -> Floats:
    """Factors and screening times mass of parallelepipeds, without weights, (elements, 7)."""
    r, s, t = np.moveaxis(maps.coefficients[:, :AXES], 1, 0)
    normals = (np.cross(s, t), np.cross(t, r), np.cross(r, s))
    determinant = np.einsum("ex,ex->e", r, normals[0])
    factors = [np.einsum("ex,ex->e", normals[a], normals[b]) / determinant for a, b in PAIRS]
    return np.stack([*factors, screening * determinant], axis=1)


def _compute_factors(terms: MetricTerms, degree: int) -> tuple[Floats, Floats]:
    normals, weights = terms.contravariant, gll(degree).cube_weights
    with np.errstate(divide="ignore", invalid="ignore"):  # flat elements are refused later
        scale = weights / terms.determinant
        factors = [np.einsum("enx,enx->en", normals[a], normals[b]) * scale for a, b in PAIRS]
    return np.stack(factors, axis=1), weights * terms.determinant
