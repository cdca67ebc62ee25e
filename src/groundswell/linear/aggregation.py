"""A cycle of smoothed aggregation (Vanek, Mandel & Brezina 1996, Computing 56) on a device.

pyamg makes the levels on the host. The Chebyshev iteration with the inverse diagonal smooths, and
the inverse of the coarsest matrix is dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.errors import InputError, install
from groundswell.exchange.communicator import SingleRank
from groundswell.linear.chebyshev import Chebyshev
from groundswell.linear.operators import Composite, VectorLayout
from groundswell.linear.sparse import SparseProduct

MAX_COARSEST = 500  # unknowns of the coarsest level
ORDER = 4  # smoothing steps before and after a correction
SEED = 5  # of the vectors from which eigenvalues are estimated
NO_PYAMG = (
    f"coarse = 'amg' needs pyamg, which is not installed; {install('multigrid')}, or choose "
    "'direct'"
)


class Hierarchy(NamedTuple):
    """The levels of a symmetric positive definite matrix.

    Args:
        matrices: of all levels but the coarsest, finest first.
        prolongations: from each next coarser level.
        inverse: of the coarsest matrix, dense.
    """

    matrices: Sequence[Any]
    prolongations: Sequence[Any]
    inverse: Any

    @classmethod
    def of(cls, matrix: Any) -> Hierarchy:
        """Aggregate unknowns until there are few.

        Raises:
            InputError: pyamg is missing.
            LinAlgError: the matrix is singular.
        """
        matrices, prolongations = _aggregated(matrix)
        inverse = np.linalg.inv(matrices[-1].toarray())
        return cls(matrices[:-1], prolongations, (inverse + inverse.T) / 2)


def _aggregated(matrix: Any) -> tuple[list[Any], list[Any]]:
    """The matrices of all levels, and the prolongations."""
    if matrix.shape[0] <= MAX_COARSEST:
        return [sparse.csr_array(matrix)], []
    if not has_pyamg():
        raise InputError(NO_PYAMG)
    import pyamg

    # Other weightings start from random numbers, which would make runs irreproducible.
    smooth = ("jacobi", {"weighting": "local"})
    levels = pyamg.smoothed_aggregation_solver(
        matrix.tocsr(), symmetry="symmetric", smooth=smooth, max_coarse=MAX_COARSEST
    ).levels
    return [level.A.tocsr() for level in levels], [level.P.tocsr() for level in levels[:-1]]


def has_pyamg() -> bool:
    """Whether pyamg is installed."""
    try:
        import pyamg  # noqa: F401
    except ImportError:
        return False
    return True


class AggregationCycle(Composite):
    """A symmetric V-cycle from b to x, which every rank computes alike.

    Args:
        dtype: of its vectors.

    Attributes:
        b, x: (unknowns,).
        launches: the cycle.
    """

    def __init__(self, backend: Backend, hierarchy: Hierarchy, dtype: str) -> None:
        self._smoothers = [_smoother(backend, matrix, dtype) for matrix in hierarchy.matrices]
        inverse = sparse.csr_array(hierarchy.inverse)
        few = backend.zeros((inverse.shape[0],), dtype), backend.zeros((inverse.shape[0],), dtype)
        ends = [*((s.b, s.x) for s in self._smoothers), few]
        self.b, self.x = ends[0]
        self.launches = SparseProduct(backend, inverse, *few).launches
        levels = zip(self._smoothers, hierarchy.prolongations, ends[1:], strict=True)
        for smoother, prolongation, (b, e) in reversed(list(levels)):
            down = SparseProduct(backend, prolongation.T, smoother.r, b)
            up = SparseProduct(backend, prolongation, e, smoother.x, add=True)
            self.launches = [
                *(*smoother.before, *smoother.residual, *down.launches),
                *self.launches,
                *(*up.launches, *smoother.after),
            ]


def _smoother(backend: Backend, matrix: Any, dtype: str) -> Chebyshev:
    count = matrix.shape[0]
    inverse_diagonal = sparse.diags_array(1 / matrix.diagonal())

    def apply(x: DeviceArray, y: DeviceArray) -> SparseProduct:
        return SparseProduct(backend, matrix, x, y)

    def precondition(r: DeviceArray, z: DeviceArray) -> SparseProduct:
        return SparseProduct(backend, inverse_diagonal, r, z)

    return Chebyshev(
        VectorLayout(backend, SingleRank(), count, count, dtype),
        apply,
        precondition,
        np.random.default_rng(SEED).uniform(-0.5, 0.5, count),
        order=ORDER,
    )
