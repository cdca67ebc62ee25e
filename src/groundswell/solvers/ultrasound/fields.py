"""The fields of the k-space scheme, and what both kinds of steps share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch

AXES = "xyz"
TO_VELOCITY, TO_PRESSURE = 1, -1  # shifts of derivatives, in half cells


@dataclass(frozen=True)
class Fields:
    """Fields of a step: pressure p, and velocity u and density rho along each axis."""

    p: DeviceArray
    u: Sequence[DeviceArray]
    rho: Sequence[DeviceArray]


class FillOverlaps(Protocol):
    """Composes launches that fill the overlaps of arrays with values of neighbouring ranks."""

    def __call__(
        self,
        arrays: Sequence[DeviceArray],
        boundary: Sequence[Launch] = (),
        interior: Sequence[Launch] = (),
    ) -> Sequence[Launch]:
        """Launches that update the arrays and fill their overlaps.

        Args:
            arrays: arrays of the window, (nz, ny, nx) each.
            boundary: launches that must precede the exchange: they write what neighbours need.
            interior: launches that may run during the exchange; they neither write what neighbours
                need nor read overlaps.
        """
        ...


def without_overlaps(
    arrays: Sequence[DeviceArray], boundary: Sequence[Launch] = (), interior: Sequence[Launch] = ()
) -> Sequence[Launch]:
    """The launches if there are no overlaps; see `FillOverlaps`."""
    return [*boundary, *interior]
