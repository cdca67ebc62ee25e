"""Ghost layers for any code: a domain that the ranks share, its arrays, and plans of exchanges.

    domain = Domain((nz, ny, nx), ghosts=2, periodic=(False, True, True))
    u = domain.zeros("float32")     # this rank's block with its ghost layers
    domain.exchange(u)              # fills them

All that is said of one rank holds for all: they make the same domains, plans and exchanges in the
same order, and close them in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends import Array, Backend
from groundswell.backends.array_interop import is_immutable
from groundswell.errors import InputError
from groundswell.exchange.arguments import flag, for_each, real_numbers, whole_numbers
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Block, Decomposition, Index, decompose
from groundswell.exchange.fastest import fastest
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.overlap import Box, open_sides, split
from groundswell.exchange.plan import Plan
from groundswell.exchange.plan_cache import PlanCache, cartesian, ranks_of
from groundswell.exchange.request import (
    Borrowed,
    Field,
    Layers,
    Slices,
    as_fields,
    extents,
    find_device,
    first_own,
    layers,
    leading_axes,
    no_layers,
    options,
    points,
    slices,
    value_type,
)
from groundswell.exchange.traffic import traffic
from groundswell.exchange.tuning import Choice, candidates


class Domain(PlanCache):
    """An array's index space, cut into one block a rank.

    Args:
        shape: points of the whole, slowest axis first, one to three axes.
        ghosts: layers around each block: one width, or for each axis a width or (low, high), or
            `Ghosts`.
        periodic: of each axis, or of all; by default as a Cartesian `comm` is, and else False.
        corners: whether ghosts outside the block along several axes are filled too; stencils that
            read along one axis at a time do without. `Ghosts` say it themselves.
        processes: blocks along each axis, 0 where free; by default those of a Cartesian `comm`, and
            else the best.
        comm: mpi4py's communicator of the ranks; None for all that were started.
        device: "cpu"; "cuda" for one of the host's GPUs a rank; "cuda:1"; or a backend.
        transport, aggregate, poison, codec: of its plans; see `plan`.

    Attributes:
        cut, comm, backend: the decomposition, the ranks, the device.
        ghosts: the layers.
        rank, size: this rank's number, and how many there are.
        block: this rank's part: `start`, `shape`, and `slices` of the whole.

    Raises:
        InputError: an argument that cannot be honoured.
        BackendError: the device is absent.
    """

    what = "domain"

    def __init__(
        self,
        shape: Sequence[int],
        ghosts: Layers = 1,
        *,
        periodic: bool | Sequence[bool] | None = None,
        corners: bool = True,
        processes: Sequence[int] | None = None,
        comm: Any = None,
        device: str | Backend = "cpu",
        transport: str = "auto",
        aggregate: bool = True,
        poison: bool = False,
        codec: str = "none",
    ) -> None:
        whole = points(shape)
        self.ghosts = layers(ghosts, len(whole), flag("corners", corners))
        ranks = ranks_of(comm)
        self.cut = _decomposed(whole, ranks, comm, periodic, processes)
        self.block: Block = self.cut.block(ranks.rank)
        backend = find_device(device, ranks, traffic(self.cut, [(self.ghosts, 8)]))
        super().__init__(ranks, backend, frees_comm=comm is not None)
        how: dict[str, Any] = {"transport": transport, "aggregate": aggregate}
        how |= {"poison": poison, "codec": codec}
        self._how = options(self.backend, **how)
        self._staged: dict[Any, Array] = {}

    # --- arrays -----------------------------------------------------------------------------------

    @cached_property
    def local_shape(self) -> Index:
        """Points of this rank's arrays, ghost layers included."""
        return extents(self.block, self.ghosts)

    def zeros(self, dtype: DTypeLike = "float64", components: int | Sequence[int] = ()) -> Array:
        """An array for this rank: NumPy's or CuPy's, with leading axes for components if any."""
        shape = (*leading_axes(components), *self.local_shape)
        return self._interop.zeros(shape, value_type(dtype))

    @cached_property
    def own(self) -> Slices:
        """Where the block's own points are in its arrays."""
        return slices(self.ghosts.low, Box((0,) * len(self.block.shape), self.block.shape))

    def interior(self, array: Any) -> Any:
        """The own points of an array: a view, as far as its library has views."""
        shape = tuple(getattr(array, "shape", ()))
        if shape[-len(self.own) :] != self.local_shape:
            raise InputError(
                f"an array of shape {shape} is none of this rank's, whose last axes have "
                f"{self.local_shape} points; make one with zeros()"
            )
        return array[(..., *self.own)]

    def indices(self, *, ghosts: bool = False) -> tuple[Array, ...]:
        """Global indices along each axis, shaped so that they combine to the block's shape.

        Args:
            ghosts: also those of the ghost layers: below 0 or past the end where these lie outside
                of the whole, periodic or not.
        """
        return tuple(self._interop.to_device(along) for along in self._indices(ghosts))

    def coordinates(
        self,
        spacing: float | Sequence[float] = 1.0,
        origin: float | Sequence[float] = 0.0,
        *,
        ghosts: bool = False,
    ) -> tuple[Array, ...]:
        """origin + spacing * `indices`, both for each axis or for all."""
        axes = len(self.own)
        first, steps = real_numbers("origin", origin, axes), real_numbers("spacing", spacing, axes)
        along = zip(self._indices(ghosts), first, steps, strict=True)
        return tuple(self._interop.to_device(o + h * n) for n, o, h in along)

    def _indices(self, ghosts: bool) -> list[NDArray[np.int64]]:
        around = self.ghosts if ghosts else no_layers(len(self.own))
        sides = zip(self.block.start, self.block.shape, around.low, around.high, strict=True)
        return list(np.ix_(*(np.arange(s - low, s + n + high) for s, n, low, high in sides)))

    def local_index(self, point: Sequence[int]) -> Index | None:
        """Where a point of the whole is in this rank's arrays; None if another rank owns it.

        Raises:
            InputError: there is no such point.
        """
        where = whole_numbers("point", point, len(self.own), self.cut.shape)
        inside = [p - s for p, s in zip(where, self.block.start, strict=True)]
        if not all(0 <= p < n for p, n in zip(inside, self.block.shape, strict=True)):
            return None
        return tuple(p + low for p, low in zip(inside, self.ghosts.low, strict=True))

    def split(self, thickness: int | Sequence[int] | None = None) -> tuple[list[Slices], ...]:
        """The own points as boxes: those near points of other ranks, and all others.

        What is computed of the others reads no ghosts, so it can hide an exchange.

        Args:
            thickness: how near, for each axis; by default as the widest ghost layers.
        """
        axes, thick = len(self.own), self.ghosts.widest.low
        if thickness is not None:
            thick = whole_numbers("thickness", for_each("thickness", thickness, axes), axes)
        parts = split(self.block.shape, open_sides(self.cut, self.rank), thick)
        near, others = ([slices(self.ghosts.low, box) for box in boxes] for boxes in parts)
        return near, others

    def gather(self, array: Any) -> NDArray[Any] | None:
        """The whole array, without ghosts, on rank 0; None elsewhere.

        Raises:
            RunFailed: a rank is late or lost, see `check`; on all ranks.
        """
        self._require_open()
        self.comm.collective_try(self.check)
        self._interop.wait_for_user(self._interop.user_streams(None, [array]))
        view = self.interior(self._interop.view(array, writable=False))
        blocks = self.comm.gather(self.backend.to_host(view))
        if not self.comm.first:
            return None
        leading = blocks[0].shape[: -len(self.own)]
        whole: NDArray[Any] = np.empty((*leading, *self.cut.shape), blocks[0].dtype)
        for rank, values in enumerate(blocks):
            where: tuple[Any, ...] = (..., *self.cut.block(rank).slices)
            whole[where] = values
        return whole

    # --- exchanges --------------------------------------------------------------------------------

    def exchange(self, *arrays: Any, stream: Any = None) -> Any:
        """Fill the ghost layers of arrays, or of `Field`s.

        The plan for the same arrays is made once; the last 16 are kept, with their arrays.

        Args:
            stream: of a GPU: see `Plan`.

        Returns:
            The array, or a tuple of several. Nobody can write JAX arrays, so new ones are returned
            in their place.

        Raises:
            InputError: an array that cannot be exchanged.
            RunFailed: a rank is late or lost; a GPU's may show later, see `check`.
        """
        self._require_open()
        fields = as_fields(arrays)
        streams = self._interop.user_streams(stream, [f.array for f in fields])
        borrowed = self._borrowed(fields)
        key = tuple(b.key(self.backend) for b in borrowed)
        self._plan_of(key, lambda: self._made(borrowed, self._how)).run(streams)
        results = [
            self._interop.to_jax(b.view) if is_immutable(field.array) else field.array
            for b, field in zip(borrowed, fields, strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def plan(
        self,
        *arrays: Any,
        transport: str | None = None,
        aggregate: bool | None = None,
        poison: bool | None = None,
        codec: str | None = None,
    ) -> Plan:
        """Prepare the exchange of arrays, or of `Field`s.

        Args:
            transport: a name that docs/exchange.md lists; "auto" for the usual one, or "fastest"
                for the one that is, which is tried out once and remembered, as is `aggregate`.
            aggregate: one message a neighbour for all arrays; otherwise one for each.
            poison: fill ghosts with NaN before each exchange, so that none can be missed.
            codec: "mpc" to shorten messages without loss, "zfp16" and so on to send 16 bits a
                value, "none". All arrays of the plan have the same type then.
            All are the domain's by default.

        Raises:
            InputError: an array that cannot be exchanged, or that is another one elsewhere.
            BackendError: the transport does not work here.
        """
        given = {"transport": transport, "aggregate": aggregate, "poison": poison, "codec": codec}
        how = self._how | {name: value for name, value in given.items() if value is not None}

        def prepare() -> tuple[list[Borrowed], dict[str, Any]]:
            borrowed = [self._borrow(field) for field in as_fields(arrays)]
            return borrowed, options(self.backend, **how)

        self._require_open()
        return self._made(*self.comm.collective_try(prepare))

    def _made(self, borrowed: list[Borrowed], how: dict[str, Any]) -> Plan:
        terms = [b.terms for b in borrowed]
        self._require_agreement(terms, how)
        if how["transport"] != "fastest" or self.size == 1:
            return self._prepared(borrowed, how)

        def make(choice: Choice) -> Plan:
            chosen = {"transport": choice.transport, "aggregate": choice.aggregate}
            return self._prepared(borrowed, how | chosen)

        self._interop.synchronize_device()  # no trial may write ghosts that the user still reads
        choices = candidates(self.backend, self.comm, overlap=False)
        problem = [self.cut, *terms, how["codec"], how["poison"]]
        return make(fastest(self.backend, self.comm, problem, make, choices))

    def _prepared(self, borrowed: list[Borrowed], how: dict[str, Any]) -> Plan:
        fields = [field for b in borrowed for field in b.fields()]
        how = how | {"poison": how["poison"] or None}  # None: as GROUNDSWELL_DEBUG says
        exchange = HaloExchange(self.backend, self.comm, self.cut, fields, **how)
        return self._planned(exchange, [b.owner for b in borrowed])

    def _require_agreement(self, terms: list[Any], how: dict[str, Any]) -> None:
        said = self.comm.allgather((self.cut, terms, how))
        if different := [rank for rank, other in enumerate(said) if other != said[0]]:
            raise InputError(
                f"rank {different[0]} exchanges {said[different[0]]}, and rank 0 {said[0]}; all "
                "must give arrays of the same types, in the same order, with the same options"
            )

    def _borrowed(self, fields: list[Field]) -> list[Borrowed]:
        """Views of all arrays; of JAX's a copy that can be written."""

        def borrow() -> list[Borrowed]:
            return [self._borrow(self._loaded(n, field)) for n, field in enumerate(fields)]

        # The first time, an error on one rank, such as a wrong GPU, becomes one on all. Later the
        # others may have a plan, and would not wait to be told.
        return borrow() if self._plans else list(self.comm.collective_try(borrow))

    def _borrow(self, field: Field) -> Borrowed:
        view, axes = self._interop.view(field.array), len(self.own)
        ghosts = self.ghosts
        if field.ghosts is not None:
            ghosts = layers(field.ghosts, axes, ghosts.corners)
        shape, around = tuple(view.shape[-axes:]), (self.ghosts, ghosts)
        origin = first_own(shape, self.block, around, field.origin)
        return Borrowed(field.array, view, origin, ghosts, field.sent_as)

    def _loaded(self, number: int, field: Field) -> Field:
        """The same, with a copy of an array that cannot be written."""
        if not is_immutable(field.array):
            return field
        view = self._interop.view(field.array, writable=False)
        key = (number, tuple(view.shape), view.dtype)
        if key not in self._staged:
            self._staged[key] = self.backend.zeros(tuple(view.shape), view.dtype)
        self._interop.copy_from_view(self._staged[key], view)
        return replace(field, array=self._staged[key])

    def close(self) -> None:
        super().close()
        self._staged = {}


def _decomposed(
    shape: Index,
    ranks: Communicator,
    comm: Any,
    periodic: bool | Sequence[bool] | None,
    processes: Sequence[int] | None,
) -> Decomposition:
    """The blocks as asked for, and otherwise as a Cartesian communicator has them."""
    dims, wraps = cartesian(comm)
    if dims is not None and len(dims) != len(shape) and None in (periodic, processes):
        raise InputError(
            f"comm is a Cartesian communicator of {len(dims)} axes, and the shape has "
            f"{len(shape)}; give periodic and processes, one entry an axis"
        )
    return decompose(
        shape,
        ranks.size,
        wraps if periodic is None else periodic,
        dims if processes is None else processes,
    )
