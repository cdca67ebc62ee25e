"""The public interface of ghost layers: a domain, its arrays, and plans of exchanges.

All ranks must create the same domains, plans and exchanges in the same order, and close them in the
same order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, replace
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arguments import flag, integers, is_sequence, real_numbers, require_arguments
from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend
from groundswell.backends.array_interop import StreamHandles
from groundswell.backends.viewable import is_immutable, value_type
from groundswell.errors import InputError
from groundswell.exchange.communicator import reported
from groundswell.exchange.decomposition import BlockLengths, Decomposition, decompose_for
from groundswell.exchange.devices import find_device
from groundswell.exchange.ghost_field import TERMS, Field, GhostField, as_fields, origin_of
from groundswell.exchange.ghosts import Ghosts, GhostWidths, as_ghosts
from groundswell.exchange.halo import DEFAULTS, HaloExchange, Options, complete_options
from groundswell.exchange.mpi_communicator import cartesian, ranks_of
from groundswell.exchange.pattern import GhostedBlock, traffic
from groundswell.exchange.plan import Plan
from groundswell.exchange.plan_cache import PlanCache
from groundswell.exchange.repetition import LastExchange, places_of
from groundswell.exchange.tuning import Choice, for_any_arrays, halo_candidates

if TYPE_CHECKING:
    from mpi4py import MPI

ARGUMENTS = ("ghosts", "periodic", "corners", "comm", "device")


class DomainOptions(Options, total=False):
    """Further keyword arguments of `Domain`, which describes them, and options of plans."""

    processes: Sequence[int] | None
    blocks: BlockLengths | None


class Domain(GhostedBlock, PlanCache):
    """The index space of an array, divided into one block per rank.

    >>> from groundswell.exchange import Domain
    >>> with Domain((6, 4), ghosts=1, periodic=(False, True)) as domain:
    ...     x, y = domain.coordinates(spacing=0.5)
    ...     u = domain.zeros("float64")
    ...     domain.interior(u)[...] = x + y
    ...     domain.exchange(u).shape  # a rank's block, with ghosts
    (8, 6)

    Args:
        shape: number of points of the whole array along each of one to three axes, slowest first.
        ghosts: layers around each block: one width, a width or (low, high) for each axis, or
            `Ghosts`.
        periodic: whether each axis is periodic, or all are; by default that of a Cartesian `comm`,
            otherwise False.
        corners: whether to fill ghosts outside the block along several axes as well. Stencils that
            read along one axis at a time do not need them. `Ghosts` may have their own flag.
        comm: an mpi4py communicator; None for all processes. The ranks of a Cartesian communicator
            keep their coordinates; `processes` and `blocks` must not contradict its `dims`, and
            `periodic` replaces its periods.
        device: "cpu"; "cuda" for one of the host's GPUs per rank; "cuda:1"; or a backend.
        options: `processes`, the number of blocks along each axis, 0 for an automatic choice; by
            default that of a Cartesian `comm`, otherwise automatic. Or `blocks`, their lengths
            along each axis, such as ((10, 14), (32,)); by default, lengths differ by at most one.
            And `transport`, `aggregate`, `sweeps`, `poison` and `codec` of plans, see `Options`.

    Attributes:
        shape, dims, periodic: points of the whole array, blocks along each axis, periodic axes.
        rank, size: number of this rank, and number of ranks.
        coords, neighbours: coordinates of this rank in the process grid, and ranks around it.
        block: this rank's part of the whole array: `start`, `shape` and `slices`.
        ghosts, local_shape, own: ghost layers, and shape and own points of this rank's arrays.
        decomposition, comm, backend: all blocks, the ranks, the device.

    Raises:
        InputError: an argument is invalid or differs between ranks; raised on all ranks.
        BackendError: the device is absent.
    """

    what = "domain"

    def __init__(
        self,
        shape: Sequence[int],
        ghosts: GhostWidths = 1,
        *,
        periodic: bool | Sequence[bool] | None = None,
        corners: bool = True,
        comm: MPI.Comm | None = None,
        device: str | Backend = "cpu",
        **options: Unpack[DomainOptions],
    ) -> None:
        ranks = ranks_of(comm)
        lengths = options.pop("processes", None), options.pop("blocks", None)

        def checked() -> tuple[Decomposition, Ghosts]:
            require_arguments(options, [*ARGUMENTS, *DomainOptions.__annotations__])
            found = decompose_for(shape, ranks.size, cartesian(comm), periodic, *lengths)
            return found, as_ghosts(ghosts, len(found.shape), flag("corners", corners))

        decomposition, layers = ranks.collective_try(checked)
        same = asdict(decomposition)
        same["blocks"] = same.pop("lengths")  # the name of the argument
        ranks.require_same({**same, "ghosts": layers})
        GhostedBlock.__init__(self, decomposition, ranks.rank, layers)

        def opened() -> tuple[Backend, Options]:
            backend = find_device(device, ranks, partial(traffic, decomposition, [(layers, 8)]))
            return backend, complete_options(backend, options)

        backend, self._options = ranks.collective_try(opened)
        PlanCache.__init__(self, ranks, backend, frees_comm=comm is not None)
        self._staged: dict[Hashable, DeviceArray] = {}
        self._last: LastExchange | None = None  # of NumPy arrays
        self._by_address: set[Hashable] = set()  # terms of exchanges that belong to certain arrays

    def __repr__(self) -> str:
        device = f"device {self.backend.name}"
        usual = {**DEFAULTS, "transport": ""}
        options = (f"{k} {v}" for k, v in self._options.items() if v != usual[k])
        parts = [*self._described(), device, *options]
        return f"<Domain: {', '.join(parts)}>"

    # --- arrays -----------------------------------------------------------------------------------

    def zeros(
        self, dtype: DTypeLike = "float64", components: int | Sequence[int] = ()
    ) -> DeviceArray:
        """A NumPy or CuPy array of zeros for this rank; leading axes are components.

        Raises:
            InputError: the type is not supported, or `components` is invalid.
        """
        leading = integers(components if is_sequence(components) else (components,))
        if leading is None or min(leading, default=0) < 0:
            raise InputError(f"components = {components!r}: give whole numbers, 0 or more")
        return self._interop.zeros((*leading, *self.local_shape), value_type(dtype))

    def interior(self, array: Any) -> Any:
        """The own points of an array: a view, if the library supports views.

        Raises:
            InputError: the array does not have the shape of this rank's arrays.
        """
        shape = tuple(getattr(array, "shape", ()))
        if shape[-len(self.own) :] != self.local_shape:
            raise InputError(
                f"the last axes of an array of shape {shape} must have {self.local_shape} points "
                f"on rank {self.rank}; create arrays with zeros()"
            )
        return array[(..., *self.own)]

    def indices(self, *, ghosts: bool = False) -> tuple[DeviceArray, ...]:
        """Global indices along each axis, shaped so that they broadcast to the block's shape.

        Args:
            ghosts: whether to include ghost layers. Outside the whole array, their indices are
                below 0 or beyond the end, also on periodic axes.
        """
        return tuple(self._interop.to_device(along) for along in self._indices(ghosts))

    def coordinates(
        self,
        spacing: float | Sequence[float] = 1.0,
        origin: float | Sequence[float] = 0.0,
        *,
        ghosts: bool = False,
    ) -> tuple[DeviceArray, ...]:
        """Positions of points along each axis: origin + spacing * `indices`.

        Args:
            spacing, origin: one number for each axis, or one for all axes, in the same unit.
            ghosts: see `indices`.
        """
        first = real_numbers("origin", origin, len(self.own))
        steps = real_numbers("spacing", spacing, len(self.own))
        along = zip(self._indices(ghosts), first, steps, strict=True)
        return tuple(self._interop.to_device(o + h * n) for n, o, h in along)

    @reported
    def gather(self, array: object) -> HostArray | None:
        """The whole array, without ghosts, on rank 0; None elsewhere.

        Raises:
            InputError: types or components differ between ranks, or the array does not fit.
            RunFailed: a rank is late or lost, see `check`; on all ranks.
        """
        self._require_open()
        self.comm.collective_try(self.check)
        self._interop.wait_for_user(self._interop.user_streams(None, [array]))
        view = self.interior(self._interop.view(array, writable=False))
        components = view.shape[: -len(self.own)]
        self.comm.require_same({"dtype": str(view.dtype), "shape of components": components})
        blocks = self.comm.gather(self.backend.to_host(view))
        if not self.comm.first:
            return None
        whole: HostArray = np.empty((*components, *self.decomposition.shape), blocks[0].dtype)
        for rank, values in enumerate(blocks):
            where: tuple[EllipsisType | slice, ...] = (..., *self.decomposition.block(rank).slices)
            whole[where] = values
        return whole

    # --- exchanges --------------------------------------------------------------------------------

    @reported
    def exchange(self, *arrays: object, stream: object = None) -> Any:
        """Fill the ghost layers of arrays, or of objects of the class `Field`.

        Arrays of the same types, ghosts and origins share a plan, which is created once. The last
        16 plans are kept, without their arrays. With transport "direct", a plan is tied to its
        arrays and keeps them alive; "fastest" does not consider it here.

        Args:
            stream: GPU stream, see `Plan`.

        Returns:
            The array, or a tuple of several arrays. JAX arrays are immutable, so new arrays are
            returned instead.

        Raises:
            InputError: an array cannot be exchanged.
            RunFailed: a rank is late or lost; on a GPU, the error may appear later, see `check`.
        """
        self._require_open()
        plain = stream is None and not self._interop.is_capturing(())
        places = places_of(arrays) if plain else None
        if places and self._last and self._last.repeat(places):
            return arrays[0] if len(arrays) == 1 else arrays
        fields = as_fields(arrays)
        streams = self._interop.user_streams(stream, [f.array for f in fields])
        written = [self._writable(n, field) for n, field in enumerate(fields)]
        self._last = None
        groups = [self._components(field) for field in written]
        plan = self._run_shared_plan(written, groups, streams)
        self._last = LastExchange(places, plan, [*map(len, groups)]) if places else None
        results = [
            field.array if mine is field else self._interop.to_jax(mine.array)
            for mine, field in zip(written, fields, strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _run_shared_plan(
        self, fields: list[Field], groups: list[list[GhostField]], streams: StreamHandles
    ) -> Plan:
        """Exchange fields with the plan of their kind, which is created if there is none.

        Args:
            groups: the components of each field.
        """
        ghost_fields = [component for group in groups for component in group]
        # The same on all ranks, so that all find a plan, or none does.
        terms = tuple((len(group), *(f.terms for f in group[:1])) for group in groups)

        def key() -> Hashable:
            by_address = terms in self._by_address
            return terms, tuple(f.key(self.backend) for f in ghost_fields if by_address)

        def make() -> Plan:
            plan = self._new_plan(ghost_fields, self._options, [])
            if not plan.rebindable:  # peers store in these arrays
                self._by_address.add(terms)
                plan.keep(field.array for field in fields)
            return plan

        return self._run_cached(key, make, streams, ghost_fields)

    @reported
    def plan(self, *arrays: object, **options: Unpack[Options]) -> Plan:
        """Prepare the exchange of arrays or of objects `Field`; the plan keeps them alive.

        Args:
            options: see `Options`; by default, those of the domain.

        Raises:
            InputError: an array cannot be exchanged, or differs between ranks.
            BackendError: the transport does not work here.
        """

        def prepare() -> tuple[list[GhostField], Options, list[object]]:
            fields = as_fields(arrays)
            ghost_fields = [g for field in fields for g in self._components(field)]
            complete = complete_options(self.backend, Options(**{**self._options, **options}))
            return ghost_fields, complete, [field.array for field in fields]

        self._require_open()
        return self._new_plan(*self.comm.collective_try(prepare))

    def _new_plan(self, fields: list[GhostField], options: Options, owners: list[object]) -> Plan:
        """A plan that keeps its owners alive. Without owners, it must also serve other arrays."""
        terms = [field.terms for field in fields]
        named = {
            f"{name} of array {n}": value
            for n, term in enumerate(terms)
            for name, value in zip(TERMS, term, strict=True)
        }
        self.comm.require_same({**options, "number of arrays": len(terms), **named})
        choices = [Choice(options["transport"], aggregate=options["aggregate"])]
        if options["transport"] == "fastest":
            choices = halo_candidates(self.backend, self.comm, overlap=False)
            choices = choices if owners else for_any_arrays(choices)

        def make(choice: Choice) -> HaloExchange:
            chosen = {**options, "transport": choice.transport, "aggregate": choice.aggregate}
            return HaloExchange(self.backend, self.comm, self.decomposition, fields, **chosen)

        others = options["codec"], options["poison"], options["sweeps"]
        problem = [self.decomposition, *terms, *others, sorted({c.transport for c in choices})]
        return self._planned(make, choices, problem, owners)

    def _components(self, field: Field) -> list[GhostField]:
        """The components of a field, as checked arrays with the axes of the domain."""
        view, axes, ghosts = self._interop.view(field.array), len(self.own), self.ghosts
        if field.ghosts is not None:
            ghosts = as_ghosts(field.ghosts, axes, bool(ghosts.corners))
        origin = origin_of(self, tuple(view.shape[-axes:]), ghosts, field.origin)
        components = np.ndindex(view.shape[:-axes])
        return [GhostField(view[c], origin, ghosts, field.sent_as) for c in components]

    def _writable(self, number: int, field: Field) -> Field:
        """The same field, with a copy of an array that is not writable."""
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
        self._staged, self._last = {}, None
