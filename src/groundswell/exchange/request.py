"""Checks what users ask of an exchange: shapes, ghost layers, arrays and options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.backends import Array, Backend, open_backend
from groundswell.backends.array_interop import ITEM_SIZES, is_supported_dtype
from groundswell.errors import InputError
from groundswell.exchange.arguments import broadcast, flag, integers, is_sequence, whole_numbers
from groundswell.exchange.boxes import AXES, CONVERSIONS, ITEMSIZE, steps
from groundswell.exchange.codecs.coder import require_codec
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import AUTOMATIC, TRANSPORTS
from groundswell.exchange.decomposition import Block, Index
from groundswell.exchange.devices import open_device
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.overlap import Box
from groundswell.exchange.pattern import Ghosts

Layers = int | Sequence[int | tuple[int, int]] | Ghosts
Slices = tuple[slice, ...]

NARROW = tuple({to: None for wide, to in CONVERSIONS if ITEMSIZE[to] < ITEMSIZE[wide]})


class Options(TypedDict, total=False):
    """How a domain's plans exchange, where a plan does not say otherwise.

    Keys:
        transport: a name that docs/exchange.md lists; "auto" for the usual one, or "fastest" to
            measure all that work, with `aggregate` and without; the result is cached.
        aggregate: one message per neighbour for all arrays; otherwise one for each.
        poison: fill ghosts with NaN before each exchange, so that missing values show.
        codec: "mpc" for lossless compression of messages, "zfp16" and so on for 16 bits per value,
            "none". All arrays of a plan have the same type then.
    """

    transport: str
    aggregate: bool
    poison: bool
    codec: str


DEFAULTS: Options = {"transport": "auto", "aggregate": True, "poison": False, "codec": "none"}


@dataclass(frozen=True, eq=False)
class Field:
    """An array whose exchange differs from the domain's options.

    Args:
        array: the domain's axes are its last ones; axes before them count components.
        ghosts: the layers to fill, as for `Domain`; None for the domain's.
        origin: index of the first own point along the domain's axes; None if the array has as many
            layers as the domain, or as `ghosts`, on each side.
        sent_as: a narrower type for values in messages: "float32", "float16", "bfloat16".

    Raises:
        InputError: another type.
    """

    array: Any
    ghosts: Layers | None = None
    origin: Sequence[int] | None = None
    sent_as: str | None = None

    def __post_init__(self) -> None:
        known = isinstance(self.sent_as, str) and self.sent_as in NARROW
        if self.sent_as is not None and not known:
            names = ", ".join(f'"{name}"' for name in NARROW)
            raise InputError(f"sent_as = {self.sent_as!r}: give one of {names}, or None")


@dataclass(frozen=True, eq=False)
class FieldView:
    """A checked `Field`: a view of the user's array, and the options of its exchange."""

    owner: Any
    view: Array
    origin: Index
    ghosts: Ghosts
    sent_as: str | None

    def key(self, backend: Backend) -> tuple[Any, ...]:
        """Identifies the memory and its layout; strides along axes of length 1 do not matter."""
        return backend.address(self.view), self.view.shape, steps(self.view), *self.terms

    @property
    def terms(self) -> tuple[Any, ...]:
        """What must be the same on all ranks."""
        return self.view.dtype.str, self._components, self.origin, self.ghosts, self.sent_as

    @property
    def _components(self) -> Index:
        return tuple(self.view.shape[: self.view.ndim - len(self.origin)])

    def fields(self) -> Iterator[GhostField]:
        """Each component."""
        for component in np.ndindex(self._components):
            yield GhostField(self.view[component], self.origin, self.ghosts, self.sent_as)


# --- arrays ---------------------------------------------------------------------------------------


def global_shape(given: Sequence[int]) -> Index:
    """The shape of a whole array."""
    shape = integers(given)
    if shape is None or not 1 <= len(shape) <= AXES or min(shape) < 1:
        raise InputError(f"shape = {given!r}: give one to {AXES} whole numbers above zero")
    return shape


def component_axes(components: int | Sequence[int]) -> Index:
    """The axes of an array that count components."""
    axes = integers(components if is_sequence(components) else (components,))
    if axes is None or min(axes, default=0) < 0:
        raise InputError(f"components = {components!r}: give whole numbers, 0 or more")
    return axes


def value_type(given: DTypeLike) -> np.dtype[Any]:
    """The type of an array's values."""
    try:
        dtype = np.dtype(given)
    except (TypeError, ValueError):
        dtype = np.dtype(object)
    if not is_supported_dtype(dtype):
        raise InputError(
            f"dtype = {given!r}: give a type of plain numbers that NumPy knows, such as "
            f'"float32", of {", ".join(map(str, ITEM_SIZES))} bytes each; for others, such as '
            "bfloat16 of PyTorch, integers of the same size"
        )
    return dtype


def as_fields(arrays: Sequence[Any]) -> list[Field]:
    """The arguments of an exchange, arrays or `Field`s, as `Field`s."""
    if not arrays:
        raise InputError("an exchange of no array; give at least one")
    return [a if isinstance(a, Field) else Field(a) for a in arrays]


def find_origin(
    shape: Index, block: Block, ghosts: Sequence[Ghosts], given: Sequence[int] | None
) -> Index:
    """The index of a block's first point in an array: as given, or by the first fitting layers."""
    axes = len(block.shape)
    if given is not None and len(shape) == axes:
        return whole_numbers("origin", given, axes)
    for layers in ghosts:
        if given is None and shape == padded_shape(block, layers):
            return layers.low
    raise InputError(
        f"an array whose last axes have {shape} points does not suit this rank, of "
        f"{padded_shape(block, ghosts[0])} with ghost layers; if it has other layers, give the "
        f"index of its first own point, Field(array, origin=...), one number for each of {axes} "
        "axes"
    )


# --- layers and boxes -----------------------------------------------------------------------------


def as_ghosts(given: Layers, axes: int, corners: bool) -> Ghosts:
    """Ghost layers; `corners` unless given as `Ghosts`."""
    if not isinstance(given, Ghosts):
        widths = [broadcast("ghosts", w, 2, "sides") for w in broadcast("ghosts", given, axes)]
        low, high = zip(*widths, strict=True)
        return Ghosts(low, high, corners)
    if len(given.low) != axes:
        raise InputError(f"{given} has {len(given.low)} axes, and the domain {axes}")
    return given


def padded_shape(block: Block, ghosts: Ghosts) -> Index:
    """The shape of a block with its ghost layers."""
    sides = zip(ghosts.low, block.shape, ghosts.high, strict=True)
    return tuple(low + n + high for low, n, high in sides)


def slices(origin: Index, box: Box) -> Slices:
    """A box of own points in an array whose first own point is at `origin`."""
    runs = zip(origin, box.start, box.shape, strict=True)
    return tuple(slice(first + s, first + s + n) for first, s, n in runs)


# --- options --------------------------------------------------------------------------------------


def find_device(device: str | Backend, comm: Communicator, traffic: ArrayLike) -> Backend:
    """A rank's backend as users name it: "cpu", "cuda", "cuda:1", or one that is open.

    Args:
        traffic: see `open_device`.
    """
    if isinstance(device, Backend):
        return device
    name, number = device_name(device)
    return open_device(name, comm, traffic) if number is None else open_backend(name, number)


def device_name(device: Any) -> tuple[str, int | None]:
    """The kind of a device as users name it, and its number if that is given."""
    name, _, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if device in ("cpu", "cuda"):
        return name, None
    if name != "cuda" or not number.isdecimal():
        raise InputError(f'device = {device!r}: allowed are "cpu", "cuda", and "cuda:0" and so on')
    return name, int(number)


def complete_options(backend: Backend, **given: Unpack[Options]) -> dict[str, Any]:
    """The options of an exchange: those given, and the defaults of the others."""
    if unknown := sorted(given.keys() - DEFAULTS.keys()):
        raise InputError(
            f"{', '.join(unknown)}: no such argument; options of exchanges are "
            f"{', '.join(DEFAULTS)}"
        )
    how: Options = {**DEFAULTS, **given}
    return {
        "codec": require_codec(how["codec"]),
        "transport": transport_of(backend, how["transport"]),
        "aggregate": flag("aggregate", how["aggregate"]),
        "poison": flag("poison", how["poison"]),
    }


def transport_of(backend: Backend, given: str) -> str:
    """A transport as users name it; raises InputError if there is none."""
    known = TRANSPORTS[backend.name]
    names = given.split("+") if isinstance(given, str) else []
    allowed = known.keys() if len(names) == 2 else {*known, *AUTOMATIC}
    if not 1 <= len(names) <= 2 or not set(names) <= allowed:
        raise InputError(
            f"transport = {given!r} does not exist for device {backend.name!r}; give "
            f"{', '.join(known)}, or two of them as in peer+mpi, within and between hosts; or "
            "auto, or fastest"
        )
    return given
