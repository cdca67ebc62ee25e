"""Points of a medium that stand for all of it where only extremes matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from groundswell.simulation.material_classes import ClassCount
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.medium import Values


class Representatives:
    """Chooses points of a medium, among them every point at which one of these is extreme:

    each property; c^2 rho; the coefficients of losses, alpha c^p with p = y - 1 (tau) to y + 2
    (c^2 eta); and the sound speed where the absorption is largest. If values are uniform in parts
    of the medium, there is a point of each combination of values.

    Args:
        power: exponent y of the absorption.
        dtype: floating-point type of properties that vary in space.

    Attributes:
        materials: counts the different materials.
    """

    def __init__(self, power: float, dtype: str) -> None:
        self._power, self._dtype = power, dtype
        self._points: dict[tuple[float, ...], None] = {}  # in the order in which they are found
        self._varying: set[str] = set()
        self.materials = ClassCount()

    def add(self, plane: Plane, *, count: bool = True) -> None:
        """Add the points of a plane.

        Args:
            count: whether to count its materials.
        """
        self._varying |= plane.varying
        if plane.is_uniform:
            found = [tuple(point[name] for name in PROPERTIES) for point in plane.present()]
            values: Iterable[Values] = np.transpose(found)
        else:
            values = [plane.property(name) for name in PROPERTIES]
            found = list(self._extremes(*values))
        self._points.update(dict.fromkeys(found))
        if count:
            arrays = np.broadcast_arrays(*values)
            self.materials.add([np.asarray(each, self._dtype) for each in arrays])

    def merge(self, others: Iterable[Representatives]) -> None:
        """Add the points of other parts of the medium."""
        for other in others:
            self._points.update(other._points)
            self._varying |= other._varying
            self.materials.merge(other.materials)

    def properties(self) -> dict[str, Values]:
        """Each property of the points: an array (points,) if it varies, or a float."""
        columns = zip(PROPERTIES, zip(*self._points, strict=True), strict=True)
        return {
            name: np.array(values, self._dtype) if name in self._varying else values[0]
            for name, values in columns
        }

    def _extremes(self, *values: Values) -> Iterator[tuple[float, ...]]:
        """Properties of the extreme points of a plane, given all its properties."""
        shape = np.broadcast_shapes(*map(np.shape, values))
        flat = [np.broadcast_to(value, shape).ravel() for value in values]
        for n in {place for key in self._keys(*values) for place in _ends(key)}:
            yield tuple(float(value[n]) for value in flat)

    def _keys(
        self, speed: Values, density: Values, absorption: Values, nonlinearity: Values
    ) -> Iterator[Values]:
        """Quantities whose extremes matter."""
        yield from (speed, density, absorption, nonlinearity)
        yield np.square(speed) * density
        if np.ndim(absorption) > 0:
            largest = absorption == np.max(absorption)
            yield np.where(largest, speed, np.nan)
        if np.any(absorption):
            coefficient = absorption * np.power(speed, self._power - 1)
            for _ in range(4):
                yield coefficient
                coefficient = coefficient * speed


def _ends(values: Values) -> tuple[int, ...]:
    """Flat indices of the smallest and the largest value; none of a number."""
    if np.ndim(values) == 0:
        return ()
    return int(np.nanargmin(values)), int(np.nanargmax(values))
