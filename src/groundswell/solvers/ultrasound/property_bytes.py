"""Bytes of the properties of a point: on a device, and read in a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.solvers.ultrasound.medium import AcousticMedium


@dataclass(frozen=True)
class PropertyBytes:
    """Bytes of a point in single fields, or in classes.

    Args:
        medium: the medium; representatives of it suffice.
        word: bytes of a number.
        class_bytes: bytes of a class; 0 if there is a field of each property.
        given_densities: number of axes for which the input has the densities at velocity points;
            they are fields, also with classes.
    """

    medium: AcousticMedium
    word: int
    class_bytes: int
    given_densities: int = 0

    @property
    def read(self) -> int:
        """Bytes that a step reads: each pass over the points reads what it needs once."""
        given = self.word * self._density_varies * self.given_densities
        return given + sum(map(self._together, self._passes()))

    def stored(self, velocity_fields: int) -> int:
        """Bytes on the device.

        Args:
            velocity_fields: number of fields of the density at velocity points, if it varies.
        """
        own = self._together([self._density_varies, *self._state_varies])
        return own + self.word * self._density_varies * velocity_fields

    def _together(self, vary: Sequence[bool]) -> int:
        """Bytes of some properties, of which it is known whether they vary."""
        return self.class_bytes * any(vary) if self.class_bytes else self.word * sum(vary)

    def _passes(self) -> Iterator[Sequence[bool]]:
        """Which of the properties that a pass reads vary, for each pass."""
        if not self.given_densities:
            yield [self._density_varies]  # of the velocities
        state = self._state_varies
        if self.medium.fractional_laplacians:
            yield from ([self._density_varies], state)  # of the densities, and of the pressure
        else:
            yield [self._density_varies, *state]

    @property
    def _density_varies(self) -> bool:
        return np.ndim(self.medium.density) > 0

    @property
    def _state_varies(self) -> list[bool]:
        """Whether each coefficient of the equation of state is there and varies."""
        return [np.ndim(values) > 0 for values in self.medium.state_coefficients]
