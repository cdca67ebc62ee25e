"""Checks of the values of an input file that vary in space, and the extremes of the medium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.kwave.datasets import InputDatasets
from groundswell.solvers.ultrasound.kwave.stored_medium import StoredField, StoredMedium, slabs
from groundswell.solvers.ultrasound.media.representatives import Representatives
from groundswell.solvers.ultrasound.medium import AcousticMedium

POSITIVE = {"c0", "rho0", "rho0_sgx", "rho0_sgy", "rho0_sgz"}


def find_materials(
    file: InputDatasets,
    medium: StoredMedium,
    initial: StoredField | None,
    shape: Triple,
    comm: Communicator,
) -> tuple[AcousticMedium, int | None]:
    """Check all values, each rank those of some planes, and find the extreme points.

    Args:
        initial: the initial pressure.
        shape: of the grid, (nz, ny, nx).

    Returns:
        Some points of the medium, (points,), among them all extremes, see `Representatives`; and
        the number of different materials, None if there are more than a table of classes has.

    Raises:
        InputError: a value is not finite, or not in its range.
    """
    stored = [medium.speed, medium.density, medium.coefficient, medium.nonlinearity, initial]
    fields = [each for each in (*stored, *medium.staggered) if isinstance(each, StoredField)]
    found = comm.collective_try(lambda: _read_planes(file, medium, fields, shape, comm))
    found.merge(comm.allgather(found))
    properties: dict[str, Any] = found.properties()
    if np.min(properties["absorption"]) < 0:
        raise file.error("alpha_coeff is negative, but media can only absorb")
    points = AcousticMedium(**properties, power=medium.power, nonlinear=medium.nonlinear)
    return points, found.materials.value


def _read_planes(
    file: InputDatasets,
    medium: StoredMedium,
    fields: Sequence[StoredField],
    shape: Triple,
    comm: Communicator,
) -> Representatives:
    """The extreme points of the planes of this rank."""
    found = Representatives(medium.power, "float32")
    if not fields:
        found.add(medium.plane({}, shape[1:]))
        return found
    first, last = (shape[0] * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    for part in slabs(range(first, last), shape):
        limits = {field: 0.0 if field.name in POSITIVE else -np.inf for field in fields}
        read = {of.name: file.planes(of, part, above) for of, above in limits.items()}
        for n in range(part.stop - part.start):
            found.add(medium.plane({name: each[n] for name, each in read.items()}, shape[1:]))
    return found
