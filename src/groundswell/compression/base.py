"""The interface of all codecs."""

from __future__ import annotations

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.backends.base import Event


class Coder:
    """Encoder and decoder of a fixed number of values.

    Attributes:
        capacity: largest possible length of a stream, bytes.
        used: length of the last encoded stream, bytes, int64, (1,), on the device; None if all
            streams have length `capacity`.
    """

    capacity: int
    used: DeviceArray | None = None

    def encode(self, strips: DeviceArray, stream: DeviceArray | int) -> list[Launch]:
        """Launches that encode values.

        Args:
            strips: the table of the values on the device, see `strips.strip_table`.
            stream: at least `capacity` bytes, aligned to 8 bytes: an array, or an address, which
                may be in memory of another process.
        """
        raise NotImplementedError

    def decode(self, stream: DeviceArray | int, strips: DeviceArray) -> list[Launch]:
        """Launches that decode a stream of at most `capacity` bytes into values."""
        raise NotImplementedError

    def fault(self, after: Event | None) -> str:
        """The fault of any stream decoded so far; "" if all are intact."""
        return ""
