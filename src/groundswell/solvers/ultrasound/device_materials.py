"""Properties of the medium on a device: fields, or a table and the class of each point."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Constant
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.material_classes import MaterialClasses
from groundswell.solvers.ultrasound.medium import AcousticMedium

# Coefficients of the equation of state, in the order of a record in kernels/compress_rows.h.
STATE = ("speed_squared", "nonlinearity", "tau", "eta")


class DeviceMaterials:
    """The properties that the kernels of a step read.

    Kernels compute the same bits with and without classes.

    Args:
        copy: copies coefficients to the device.
        medium: the medium.

    Attributes:
        classes: the classes; None without them, and if the medium is uniform.
    """

    def __init__(self, copy: DeviceCoefficients, medium: AcousticMedium) -> None:
        self._copy, self._medium = copy, medium
        self.classes = MaterialClasses.of(medium) if medium.in_classes else None

    def constants(self) -> dict[str, Constant]:
        """The size of a class, and which coefficients are uniform."""
        medium = self._medium
        uniform = {
            "SPEED": (medium.speed,),
            "NONLINEARITY": (medium.nonlinearity, medium.density),
            "ABSORPTION": (medium.absorption, medium.speed),
        }
        return {
            "CLASSES": 0 if self.classes is None else self.classes.numbers.itemsize,
            **{f"UNIFORM_{key}": not any(map(np.ndim, used)) for key, used in uniform.items()},
        }

    @cached_property
    def numbers(self) -> DeviceArray:
        """The class of each point, which kernels read only if there are classes."""
        unused = np.zeros(1, np.uint16)
        return self._copy.as_it_is(self.classes.numbers if self.classes else unused)

    @cached_property
    def state(self) -> dict[str, DeviceArray]:
        """The coefficients of the equation of state: fields, or columns of a table."""
        if self.classes is None:
            coefficients = self._copy.by_planes(self._medium.state_coefficients_in)
            return dict(zip(STATE, coefficients, strict=True))
        values = self.classes.table.state_coefficients
        records = np.empty((self.classes.count, len(STATE)), self._copy.dtype)
        for n, each in enumerate(values):
            records[:, n] = each
        table = self._copy(records)
        return {name: table[:, n] for n, name in enumerate(STATE)}

    def density(self, *, uniform: bool = True) -> DeviceArray:
        """rho_0 at pressure points.

        Args:
            uniform: whether one number suffices if the density is uniform.
        """
        values = self._medium.density
        if self.classes is None or (np.ndim(values) == 0 and uniform):
            return self._copy.property(values, uniform=uniform)
        return self._copy(np.broadcast_to(self.classes.table.density, self.classes.count))
