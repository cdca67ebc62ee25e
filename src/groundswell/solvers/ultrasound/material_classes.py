"""A medium as a table of materials, and the class of each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Reals
from groundswell.backends.host_threads import chunks, for_each
from groundswell.simulation.material_classes import ClassTable, class_bytes
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium


@dataclass(frozen=True)
class MaterialClasses:
    """The classes of the points of a medium.

    Args:
        numbers: the class of each point, (nz, ny, nx), in 8 bits if these suffice, otherwise in 16.
        table: the properties of each class, (classes,), or floats where the medium is uniform, and
            the equations of the medium.
    """

    numbers: NDArray[np.unsignedinteger]
    table: AcousticMedium

    @classmethod
    def of(cls, medium: AcousticMedium) -> MaterialClasses | None:
        """The classes of a medium; None if it is uniform.

        Densities at velocity points are no part of a class.

        Raises:
            InputError: there are more than `MOST` materials.
        """
        given = {name: np.asarray(getattr(medium, name)) for name in PROPERTIES}
        varying: dict[str, Any] = {name: v for name, v in given.items() if v.ndim > 0}
        if not varying:
            return None
        arrays = np.broadcast_arrays(*varying.values())
        found = ClassTable(len(arrays), np.result_type(*arrays))
        numbers = _classify(found, arrays)
        types = (values.dtype for values in varying.values())
        columns = map(np.ascontiguousarray, found.records.T, types)
        of_class: dict[str, Any] = dict(zip(varying, columns, strict=True))
        nonlinear, lossy = medium.is_nonlinear, medium.has_losses
        whole = replace(medium, nonlinear=nonlinear, lossy=lossy, staggered=None)
        return cls(numbers, replace(whole, **of_class))

    @property
    def count(self) -> int:
        """Number of classes."""
        return max(np.size(getattr(self.table, name)) for name in PROPERTIES)


def _classify(table: ClassTable, arrays: Sequence[Reals]) -> NDArray[np.unsignedinteger]:
    """The class of each point, some planes at a time."""
    numbers = np.empty(arrays[0].shape, np.uint16)

    def find(planes: slice) -> None:
        numbers[planes] = table.classify([values[planes] for values in arrays])

    for_each(find, chunks(len(numbers), numbers[:1].size))
    return numbers.astype(np.uint8) if class_bytes(len(table.records)) == 1 else numbers
