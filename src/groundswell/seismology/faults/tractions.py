"""Initial traction on a fault, from normal and shear stress or from a stress tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.seismology.case.fault_stress import (
    COMPONENT,
    FLUID,
    NORMAL,
    RAKE,
    SHEAR,
    StressSection,
    TensorSection,
)
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.values import values_at

_ROWS = (("xx", "xy", "xz"), ("xy", "yy", "yz"), ("xz", "yz", "zz"))


@dataclass(frozen=True, eq=False)
class Traction:
    """Traction that the hanging wall exerts on the footwall.

    Args:
        normal: effective, compression positive, (n,), Pa.
        shear: magnitude, (n,), Pa.
        direction: cosines of the shear traction along strike and updip, (n, 2); 0 if undefined.
    """

    normal: Floats
    shear: Floats
    direction: Floats

    @property
    def components(self) -> Floats:
        """Shear traction along strike and updip, (n, 2), Pa."""
        return self.shear[:, None] * self.direction


def initial_traction(name: str, stress: StressSection, points: FaultPoints) -> Traction:
    """The traction of a complete stress; `name` is its key, for messages.

    Raises:
        InputError: a value is out of bounds.
    """
    count = len(points)
    nothing = Traction(np.zeros(count), np.zeros(count), np.zeros((count, 2)))
    return changed(name, nothing, stress, points, np.ones(count, bool))


def changed(
    name: str, before: Traction, stress: StressSection, points: FaultPoints, inside: Mask
) -> Traction:
    """A traction with another stress at the points `inside`, (n,).

    Without another rake the direction remains, without another shear stress the magnitude.

    Raises:
        InputError: a value is out of bounds, or the direction of a shear stress is undefined.
    """
    after = Traction(before.normal.copy(), before.shear.copy(), before.direction.copy())
    part = points.take(inside)
    if stress.tensor:
        resolved = _resolved(name, stress.tensor, part, _fluid(name, stress, part))
        after.normal[inside], after.shear[inside] = resolved.normal, resolved.shear
        after.direction[inside] = resolved.direction
    if stress.normal is not None:
        after.normal[inside] = values_at(f"{name}.normal", stress.normal, NORMAL, part)
    if stress.rake is not None:
        rake = values_at(f"{name}.rake", stress.rake, RAKE, part)
        after.direction[inside] = direction_of(rake)
    if stress.shear is not None:
        after.shear[inside] = values_at(f"{name}.shear", stress.shear, SHEAR, part)
        require_direction(f"{name}.shear", after.shear, after.direction, points)
    return after


def require_direction(name: str, shear: Floats, direction: Floats, points: FaultPoints) -> None:
    """Check that shear stress (n,) has a direction (n, 2).

    Raises:
        InputError: it has none at a point.
    """
    undefined = (shear != 0) & ~direction.any(axis=1)
    if undefined.any():
        place = points.describe(int(undefined.argmax()))
        raise InputError(
            f"{name} has no direction at {place}, where the initial shear stress is 0; add a rake"
        )


def direction_of(rake: Floats) -> Floats:
    """Cosines along strike and updip, (n, 2), of a rake, degrees; exact for right angles."""
    angle = np.radians(rake)
    cosines = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    is_right = np.mod(rake, 90) == 0
    return np.where(is_right[:, None], np.round(cosines), cosines) + 0.0


def _fluid(name: str, stress: StressSection, points: FaultPoints) -> Floats:
    if stress.fluid_pressure is None:
        return np.zeros(len(points))
    return values_at(f"{name}.fluid_pressure", stress.fluid_pressure, FLUID, points)


def _resolved(name: str, tensor: TensorSection, points: FaultPoints, fluid: Floats) -> Traction:
    """The traction T = sigma n, with the fluid pressure (n,) added to its normal component."""
    values = {
        key: values_at(f"{name}.tensor.{key}", value, COMPONENT, points) for key, value in tensor
    }
    sigma = np.array([[values[key] for key in row] for row in _ROWS])
    traction = np.einsum("ijn,nj->ni", sigma, points.normal)
    along, up = (np.sum(traction * axis, axis=1) for axis in (points.strike, points.updip))
    shear = np.hypot(along, up)
    direction = np.stack([along, up], axis=-1) / np.where(shear > 0, shear, 1.0)[:, None]
    return Traction(-np.sum(traction * points.normal, axis=1) - fluid, shear, direction)
