"""Coefficients where the operator's kernel expects them, see kernels/metric.h.

What all elements have in common is part of the kernel's constants. Where the metric is stored, its
factors contain the rest. Where it is computed, values of k and c follow each element's geometry.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import Floats, Reals
from groundswell.solvers.poisson.coefficients import Coefficients

# What is stored of an element's geometry, from most to least; numbers as in kernels/metric.h.
METRICS = {"stored": 0, "straight": 2, "affine": 1}


@dataclass(frozen=True, eq=False)
class ElementValues:
    """Where the coefficients of a rank's elements are.

    Args:
        conductivity, screening: what k and c have in common; 1, or 0 for a c that is 0 everywhere,
            if there are further values.
        k, c: further values for each element, (elements, 0, 1 or nodes).
    """

    conductivity: float
    screening: float
    k: Floats
    c: Floats

    @classmethod
    def of(cls, coefficients: Coefficients, elements: int, metric: str) -> ElementValues:
        """The values for a metric of METRICS, "stored" if its factors contain the coefficients."""
        k, c = coefficients.conductivity[:, 0], coefficients.screening
        none = np.empty((elements, 0))
        common_c = float(c[0, 0]) if c.size == 1 else float(coefficients.has_screening)
        if metric == "stored":
            return cls(1.0, common_c, none, none)
        is_affine = metric == "affine"  # values of elements are part of the geometry
        further = [v if (v.shape[1] if is_affine else v.size) > 1 else none for v in (k, c)]
        common_k = float(k[0, 0]) if k.size == 1 and not is_affine else 1.0
        of_k, of_c = (np.broadcast_to(v, (elements, v.shape[1])) for v in further)
        return cls(common_k, common_c, of_k, of_c)

    @property
    def counts(self) -> dict[str, int]:
        """The constants of kernels: numbers of further values per element."""
        return {"K_VALUES": self.k.shape[1], "C_VALUES": self.c.shape[1]}

    def after(self, geometry: Floats, dtype: DTypeLike) -> Reals:
        """The geometry of each element, (elements, any), followed by its values, in a type."""
        flat = geometry.reshape(len(geometry), prod(geometry.shape[1:]))
        parts = [part for part in (flat, self.k, self.c) if part.shape[1]]
        return np.concatenate(parts, axis=1, dtype=dtype, casting="same_kind")


def allowed_metrics(coefficients: Coefficients, *, straight: bool, affine: bool) -> list[str]:
    """The metrics that elements may have, from most to least data.

    Args:
        straight: whether all elements have straight edges.
        affine: whether all are parallelepipeds.
    """
    is_tensor, varies = coefficients.is_tensor, coefficients.conductivity.shape[2] > 1
    allowed = ["stored"]
    if straight and not is_tensor:
        allowed.append("straight")
    if affine and not (is_tensor and varies):
        allowed.append("affine")
    return allowed
