"""Whether an equation determines u on every body of a mesh."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.partition import label_bodies
from groundswell.solvers.poisson.equation import DiscreteEquation
from groundswell.spectral_elements.space import FunctionSpace


def require_solvable(space: FunctionSpace, equation: DiscreteEquation) -> None:
    """Refuse an equation without a unique solution; all ranks must call it; raises InputError."""
    comm, mesh = space.comm, space.mesh
    mine = equation.coefficients.determined(len(space.elements))
    is_single = all(comm.allgather(len(mine) == len(space.elements))) or isinstance(mesh, Box)
    examined = np.array([0, mesh.count - 1]) if is_single else np.arange(mesh.count)
    body = np.zeros(2, np.int64) if is_single else label_bodies(mesh)
    found = body[: min(len(mine), 1)] if is_single else np.unique(body[space.elements[mine]])
    determined = np.unique(np.concatenate(comm.allgather(found)))
    is_fixed = _touches(mesh, equation.fixed, examined)
    comm.collective_try(lambda: _require_unique(body, is_fixed, determined, equation.mean))


def _touches(mesh: Hexahedra, tags: Collection[int], examined: Integers) -> Integers:
    """Whether elements have a face with one of these tags, (examined,)."""
    return np.asarray(np.isin(mesh.tags(examined), tuple(tags)).any(axis=1))


def _require_unique(
    body: Integers, is_fixed: Integers, determined: Integers, mean: float | None
) -> None:
    """Check that either the mean or coefficients and sides determine u on each body."""
    loose = ~np.isin(body, np.union1d(body[is_fixed], determined))
    if mean is None and not loose.any():
        return
    if mean is None:
        several = f" in {counted(loose.sum(), 'element')}, the first is {loose.argmax()}"
        where = "" if loose.all() else several
        raise InputError(
            "without screening and without a fixed or robin side, u is determined only up "
            f"to a constant{where}; give a screening above 0, a side, or the mean of u"
        )
    if not loose.all():
        raise InputError(
            f"mean = {mean:g}, but the screening or a side determines u already; remove it"
        )
    if (count := len(np.unique(body))) > 1:
        raise InputError(
            f"mean = {mean:g} of a mesh of {count} separate bodies, each of which needs its own; "
            "solve for one body at a time"
        )
