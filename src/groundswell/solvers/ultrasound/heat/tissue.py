"""Thermal properties of tissue, and the coefficients of Pennes' equation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError

BLOOD_HEAT_CAPACITY = 3617.0  # J/(kg K)
BODY = 37.0  # degrees Celsius
LEAST = {"conductivity": 0.0, "heat_capacity": 1e-9, "perfusion": 0.0}


@dataclass(frozen=True)
class Tissue:
    """Thermal properties of one tissue, or of each point as arrays (z, y, x).

    >>> import groundswell as gs
    >>> brain = gs.ultrasound.Tissue(perfusion=10.0)
    >>> round(float(brain.coefficients(density=1040.0).cooling), 4)  # 1/s
    0.0097

    The defaults are customary values for soft tissue without perfusion (Duck 1990, Physical
    Properties of Tissue); blood that carries heat away makes tissue cooler.

    Args:
        conductivity: k, W/(m K).
        heat_capacity: C, J/(kg K).
        perfusion: mass of blood that flows through a volume, w_b, kg/(m^3 s); 10 in the brain.

    Raises:
        InputError: a property is negative or not finite, or the heat capacity is 0.
    """

    conductivity: ArrayLike = 0.5
    heat_capacity: ArrayLike = 3600.0
    perfusion: ArrayLike = 0.0

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            values = np.asarray(getattr(self, name))
            is_number = values.dtype.kind in "fiu" and np.isfinite(values).all()
            if not is_number or np.any(values < least):
                raise InputError(
                    f"tissue: {name} must be a finite number that is "
                    f"{'positive' if least else 'not negative'}, or an array of them"
                )

    def where(self, inside: Mask, other: Self) -> Self:
        """The properties of another tissue at some points, these elsewhere."""
        mixed = {
            name: np.where(inside, getattr(other, name), getattr(self, name)) for name in LEAST
        }
        return replace(self, **mixed)

    def coefficients(self, density: ArrayLike) -> Coefficients:
        """The coefficients of Pennes' equation in this tissue of a density, kg/m^3."""
        capacity = np.multiply(density, self.heat_capacity)
        cooling = np.multiply(self.perfusion, BLOOD_HEAT_CAPACITY) / capacity
        return Coefficients(*map(_one_if_equal, (self.conductivity, capacity, cooling)))


BONE = Tissue(conductivity=0.32, heat_capacity=1313.0)  # cortical, without perfusion


class Coefficients(NamedTuple):
    """Coefficients of rho C dT/dt = div(k grad T) - rho C P (T - T_a) + Q.

    Numbers, or arrays (z, y, x) where they vary.

    Attributes:
        conductivity: k, W/(m K).
        capacity: rho C, J/(m^3 K).
        cooling: P, w_b C_b / (rho C), 1/s.
    """

    conductivity: Floats
    capacity: Floats
    cooling: Floats

    @property
    def are_uniform(self) -> bool:
        """Whether no coefficient varies."""
        return not any(map(np.ndim, self))


def _one_if_equal(values: ArrayLike) -> Floats:
    """An array whose values are all equal becomes one number."""
    array = np.asarray(values, float)
    return np.asarray(array.flat[0]) if array.size and np.ptp(array) == 0 else array
