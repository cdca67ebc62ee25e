"""Fields: arrays whose ghosts are exchanged, as users give them and as operations take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundswell.backends.array_interop import is_supported_dtype
from groundswell.backends.base import Array, Backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import AXES, CONVERSIONS, ITEMSIZE, RAW, Place, steps
from groundswell.exchange.decomposition import Index
from groundswell.exchange.pattern import Ghosts, Layers


@dataclass(frozen=True, eq=False)
class Field:
    """An array whose exchange differs from the domain's options.

    Args:
        array: the domain's axes are its last ones; axes before them count components.
        ghosts: the layers to fill, as for `Domain`; None for the domain's.
        origin: index of the first own point along the domain's axes; None if the array has as many
            layers as the domain, or as `ghosts`, on each side.
        sent_as: a narrower type for values in messages: "float32", "float16", "bfloat16".
    """

    array: Any
    ghosts: Layers | None = None
    origin: Sequence[int] | None = None
    sent_as: str | None = None


@dataclass(frozen=True, eq=False)
class GhostField:
    """A checked array, where its rank's own points are in it, and which ghosts it needs.

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
        if not isinstance(self.sent_as, str) or self.sent_as not in allowed:
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

    @property
    def terms(self) -> tuple[Any, ...]:
        """What must be the same on all ranks."""
        return self.array.dtype.str, self.origin, self.ghosts, self.sent_as

    def key(self, backend: Backend) -> tuple[Any, ...]:
        """Identifies the memory and its layout; strides along axes of length 1 do not matter."""
        return backend.address(self.array), self.array.shape, steps(self.array), *self.terms

    def place(self, backend: Backend, first: Index) -> Place:
        """The box that begins at local index `first`."""
        return Place.in_array(backend, self.array, self.origin, first)
