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
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from groundswell.backends import Array, Backend
from groundswell.backends.array_interop import is_immutable
from groundswell.errors import InputError
from groundswell.exchange.arguments import flag, real_numbers
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghosted_block import GhostedBlock
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.pattern import Ghosts, traffic
from groundswell.exchange.plan import Plan
from groundswell.exchange.plan_cache import PlanCache, cartesian, ranks_of
from groundswell.exchange.process_grid import Blocks, process_grid
from groundswell.exchange.request import (
    Field,
    FieldView,
    Layers,
    Options,
    as_fields,
    as_ghosts,
    complete_options,
    component_axes,
    device_name,
    find_device,
    find_origin,
    global_shape,
    value_type,
)
from groundswell.exchange.tuning import Choice, fastest, halo_candidates


class Domain(GhostedBlock, PlanCache):
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
        blocks: instead of `processes` for each axis the lengths of its blocks, such as
            ((10, 14), (32,)); by default they differ by one at most.
        comm: mpi4py's communicator of the ranks; None for all that were started. If it is
            Cartesian, its ranks keep their coordinates; `processes` and `blocks` that contradict
            its `dims` are an error, and `periodic` is used instead of its periods.
        device: "cpu"; "cuda" for one of the host's GPUs a rank; "cuda:1"; or a backend.
        options: transport, aggregate, poison, codec of its plans; see `Options`.

    Attributes:
        shape, dims, periodic: points of the whole, blocks along each axis, and which axes wrap.
        rank, size: this rank's number, and how many there are.
        coords, neighbours: its place in the grid of blocks, and the ranks around it.
        block: its part of the whole: `start`, `shape`, and `slices`.
        ghosts, local_shape, own: the layers, and its arrays' shape and own points.
        decomposition, comm, backend: all blocks, the ranks, the device.

    Raises:
        InputError: an argument that cannot be honoured, or differs between ranks; on all ranks.
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
        blocks: Blocks | None = None,
        comm: Any = None,
        device: str | Backend = "cpu",
        **options: Unpack[Options],
    ) -> None:
        ranks = ranks_of(comm)

        def checked() -> tuple[Decomposition, Ghosts]:
            whole = global_shape(shape)
            around = as_ghosts(ghosts, len(whole), flag("corners", corners))
            if not isinstance(device, Backend):
                device_name(device)  # an error here is one on all ranks
            topology = cartesian(comm)
            return process_grid(whole, ranks.size, topology, periodic, processes, blocks), around

        decomposition, around = ranks.collective_try(checked)
        _require_same(ranks, decomposition, around)
        GhostedBlock.__init__(self, decomposition, ranks.rank, around)
        sent = traffic(decomposition, [(around, 8)])
        backend, self._how = ranks.collective_try(lambda: _opened(ranks, device, sent, options))
        PlanCache.__init__(self, ranks, backend, frees_comm=comm is not None)
        self._staged: dict[Any, Array] = {}

    def __repr__(self) -> str:
        device = f"device {self.backend.name}"
        parts = [*self._described(), device, f"transport {self._how['transport']}"]
        return f"<Domain: {', '.join(parts)}>"

    # --- arrays -----------------------------------------------------------------------------------

    def zeros(self, dtype: DTypeLike = "float64", components: int | Sequence[int] = ()) -> Array:
        """An array for this rank: NumPy's or CuPy's, with leading axes for components if any."""
        shape = (*component_axes(components), *self.local_shape)
        return self._interop.zeros(shape, value_type(dtype))

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
        whole: NDArray[Any] = np.empty((*leading, *self.decomposition.shape), blocks[0].dtype)
        for rank, values in enumerate(blocks):
            where: tuple[Any, ...] = (..., *self.decomposition.block(rank).slices)
            whole[where] = values
        return whole

    # --- exchanges --------------------------------------------------------------------------------

    def exchange(self, *arrays: Any, stream: Any = None) -> Any:
        """Fill the ghost layers of arrays, or of `Field`s.

        Arrays of the same types, ghosts and origins share a plan, which is made once. The last 16
        plans are kept, without their arrays. With transport "direct" or "fastest", or a codec, a
        plan is for certain arrays, and keeps them.

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
        views = self._views(fields)
        ghost_fields = [field for v in views for field in v.fields()]

        def make() -> Plan:
            self._require_no_capture(streams)
            return self._made(views, self._how, owners=None if self._by_address else ())

        self._run(self._plan_of(self._key(views), make), streams, ghost_fields)
        results = [
            self._interop.to_jax(v.view) if is_immutable(field.array) else field.array
            for v, field in zip(views, fields, strict=True)
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
                to measure all that work, with `aggregate` and without; the result is cached.
            aggregate: one message per neighbour for all arrays; otherwise one for each.
            poison: fill ghosts with NaN before each exchange, so that missing values show.
            codec: "mpc" for lossless compression of messages, "zfp16" and so on for 16 bits per
                value, "none". All arrays of the plan have the same type then.
            All are the domain's by default.

        Raises:
            InputError: an array that cannot be exchanged, or that is another one elsewhere.
            BackendError: the transport does not work here.
        """
        given = {"transport": transport, "aggregate": aggregate, "poison": poison, "codec": codec}
        how = self._how | {name: value for name, value in given.items() if value is not None}

        def prepare() -> tuple[list[FieldView], dict[str, Any]]:
            views = [self._view(field) for field in as_fields(arrays)]
            return views, complete_options(self.backend, **how)

        self._require_open()
        return self._made(*self.comm.collective_try(prepare))

    @property
    def _by_address(self) -> bool:
        """Whether plans are for certain arrays: peers store in them, or codecs read them."""
        transport = self._how["transport"]
        return self._how["codec"] != "none" or "direct" in transport or transport == "fastest"

    def _key(self, views: list[FieldView]) -> tuple[Any, ...]:
        """What tells plans apart: the same on all ranks, so that all find a plan, or none does."""
        return tuple(v.key(self.backend) if self._by_address else v.terms for v in views)

    def _made(
        self,
        views: list[FieldView],
        how: dict[str, Any],
        owners: Sequence[Any] | None = None,
    ) -> Plan:
        """A plan. It keeps `owners` alive, by default the users' arrays."""
        terms = [v.terms for v in views]
        self._require_agreement(terms, how)
        if how["transport"] != "fastest" or self.size == 1:
            return self._prepared(views, how, owners)

        def make(choice: Choice) -> Plan:
            chosen = {"transport": choice.transport, "aggregate": choice.aggregate}
            return self._prepared(views, how | chosen, owners)

        self._interop.synchronize_device()  # no trial may write ghosts that the user still reads
        choices = halo_candidates(self.backend, self.comm, overlap=False)
        problem = [self.decomposition, *terms, how["codec"], how["poison"]]
        return make(fastest(self.backend, self.comm, problem, make, choices))

    def _prepared(
        self, views: list[FieldView], how: dict[str, Any], owners: Sequence[Any] | None
    ) -> Plan:
        fields = [field for v in views for field in v.fields()]
        how = how | {"poison": how["poison"] or None}  # None: as GROUNDSWELL_DEBUG says
        exchange = HaloExchange(self.backend, self.comm, self.decomposition, fields, **how)
        return self._planned(exchange, [v.owner for v in views] if owners is None else owners)

    def _require_agreement(self, terms: list[Any], how: dict[str, Any]) -> None:
        said = self.comm.allgather((self.decomposition, terms, how))
        if different := [rank for rank, other in enumerate(said) if other != said[0]]:
            raise InputError(
                f"rank {different[0]} exchanges {said[different[0]]}, and rank 0 {said[0]}; all "
                "must give arrays of the same types, in the same order, with the same options"
            )

    def _views(self, fields: list[Field]) -> list[FieldView]:
        """Views of all arrays; of JAX's a copy that can be written."""

        def view_all() -> list[FieldView]:
            return [self._view(self._loaded(n, field)) for n, field in enumerate(fields)]

        # The first time, an error on one rank, such as a wrong GPU, becomes one on all. Later the
        # others may have a plan, and would not wait to be told.
        return view_all() if self._plans else list(self.comm.collective_try(view_all))

    def _view(self, field: Field) -> FieldView:
        view, axes = self._interop.view(field.array), len(self.own)
        ghosts = self.ghosts
        if field.ghosts is not None:
            ghosts = as_ghosts(field.ghosts, axes, ghosts.corners)
        shape, around = tuple(view.shape[-axes:]), (self.ghosts, ghosts)
        origin = find_origin(shape, self.block, around, field.origin)
        return FieldView(field.array, view, origin, ghosts, field.sent_as)

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


def _require_same(ranks: Communicator, decomposition: Decomposition, around: Ghosts) -> None:
    """See that all ranks have given the same shape, blocks and layers."""
    given = ranks.allgather((decomposition, around))
    if different := [rank for rank, other in enumerate(given) if other != given[0]]:
        raise InputError(
            f"rank {different[0]} makes a domain of {given[different[0]]}, and rank 0 of "
            f"{given[0]}; all must give the same shape, ghosts, periodic and blocks"
        )


def _opened(
    ranks: Communicator, device: str | Backend, sent: ArrayLike, given: Options
) -> tuple[Backend, dict[str, Any]]:
    """The device, and the options of exchanges on it."""
    backend = find_device(device, ranks, sent)
    return backend, complete_options(backend, **given)
