"""Phased arrays: elements with their own amplitudes, phases and delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.transducers.signals import Signal, element_signals
from groundswell.solvers.ultrasound.transducers.surface import Surface, Vector, as_position


@dataclass(frozen=True)
class PhasedArray:
    """Elements that emit one signal with their own amplitudes, phases and delays.

    Args:
        elements: surfaces, for example those of an `AnnularArray`.
        amplitudes: amplitude of each element, Pa or m/s, or one for all.
        phases: phase of each element, rad, or one for all.
        delays: delay of each element, s, or one for all.

    Raises:
        InputError: there is no element, or a list does not have one entry per element.
    """

    elements: tuple[Surface, ...]
    amplitudes: float | Sequence[float] = 1.0
    phases: float | Sequence[float] = 0.0
    delays: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        if not self.elements:
            raise InputError("phased array: elements = () is empty; give at least one surface")
        for name in ("amplitudes", "phases", "delays"):
            shape, count = np.shape(getattr(self, name)), len(self.elements)
            if shape not in ((), (count,)):
                raise InputError(
                    f"phased array: {name} have the shape {shape}, but there are {count} elements; "
                    "give one number, or one for each element"
                )

    def focused(self, focus: Vector, speed: float) -> PhasedArray:
        """The array with delays that focus it at a point.

        Args:
            focus: where the sound of all elements arrives at the same time, m.
            speed: sound speed between the elements and the focus, m/s.

        Raises:
            InputError: the focus is not a position, or the speed is not positive.
        """
        centres = np.array([element.reference_point for element in self.elements])
        return replace(self, delays=tuple(focus_delays(centres, focus, speed).tolist()))

    def signals(self, signal: Signal, count: int, dt: float) -> Floats:
        """Signals of the elements at the times n dt, (count, elements); see `element_signals`."""
        ones = np.ones(len(self.elements))
        amplitudes = ones * self.amplitudes
        return element_signals(signal, count, dt, amplitudes, self.phases, self.delays)


def focus_delays(centres: ArrayLike, focus: Vector, speed: float) -> Floats:
    """Delays for which the sound of all elements arrives at a focus together, (elements,), s.

    The element farthest from the focus has the delay 0.

    Args:
        centres: positions of the elements, (elements, 3), m.
        focus: position of the focus, m.
        speed: sound speed, m/s.

    Raises:
        InputError: the focus is not a position, or the speed is not positive.
    """
    if not (np.isfinite(speed) and speed > 0):
        raise InputError(f"focus: speed = {speed:g} m/s, but it must be positive; give it in m/s")
    away = np.asarray(centres, float) - as_position("focus", "position", focus)
    distance = np.linalg.norm(away, axis=-1)
    return np.asarray((distance.max() - distance) / speed)
