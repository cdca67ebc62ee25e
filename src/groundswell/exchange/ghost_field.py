"""Ghost fields: arrays, where a rank's own points are in them, and the ghost layers they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundswell.backends.array_interop import is_supported_dtype
from groundswell.backends.base import Array, Backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import AXES, CONVERSIONS, ITEMSIZE, RAW, Place

if TYPE_CHECKING:
    from groundswell.exchange.decomposition import Index
    from groundswell.exchange.pattern import Ghosts


@dataclass(frozen=True, eq=False)
class GhostField:
    """An array, where its rank's own points are in it, and which ghosts it needs.

    Args:
        array: of a backend, up to three axes.
        origin: index of the first own point.
        ghosts: layers that are needed.
        sent_as: a narrower type to send values in ("float32", "float16", "bfloat16"), or None.

    Raises:
        InputError: values of unusual size, a type that they cannot be sent in, or axes that differ.
    """

    array: Array
    origin: Index
    ghosts: Ghosts
    sent_as: str | None = None

    def __post_init__(self) -> None:
        axes = len(self.ghosts.low)
        if not is_supported_dtype(self.array.dtype):
            raise InputError(
                f"values of type {self.dtype} take {self.array.dtype.itemsize} bytes; exchanged "
                f"can be plain numbers of {', '.join(map(str, RAW))} bytes: split them into fields"
            )
        if not axes == len(self.origin) == self.array.ndim <= AXES:
            raise InputError(
                f"an array of {self.array.ndim} axes, its origin {self.origin} and its ghosts "
                f"{self.ghosts.low} must have the same number of axes, {AXES} at most; views of "
                "single components do"
            )
        if self.sent_as is not None:
            self._require_narrower()

    def _require_narrower(self) -> None:
        allowed = [
            to for wide, to in CONVERSIONS if wide == self.dtype and ITEMSIZE[to] < ITEMSIZE[wide]
        ]
        if self.sent_as not in allowed:
            raise InputError(
                f"{self.dtype} cannot be sent as {self.sent_as!r}; allowed: "
                f"{', '.join(allowed) or 'nothing narrower'}"
            )

    @property
    def dtype(self) -> str:
        """NumPy's name of the array's type."""
        return str(self.array.dtype)

    @property
    def wire_dtype(self) -> str:
        """The type that values are sent in."""
        return self.sent_as or self.dtype

    def place(self, backend: Backend, first: Index) -> Place:
        """The box that begins at local index `first`."""
        return Place.in_array(backend, self.array, self.origin, first)
