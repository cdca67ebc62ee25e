"""Base classes of solvers whose ranks exchange values, such as the ghosts of blocks of cells."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from groundswell.backends import Backend, Launch, Listing, list_launches
from groundswell.backends.base import Event, in_order
from groundswell.case.quantities import time_of
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.messages import Operation
from groundswell.exchange.pattern import open_sides, split
from groundswell.exchange.tuning import Choice, Timer, Tuning, cache_file, halo_candidates, tune
from groundswell.grids.cartesian import Field, Grid, Part
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.simulation.finite_check import NonFiniteSearch


def part_of(grid: Grid, cut: Decomposition, rank: int) -> Part:
    """The cells that a rank holds."""
    block = cut.block(rank)
    return Part.from_block(grid, block.start, block.shape)


def boundary_first(
    decomposition: Decomposition, rank: int, thickness: Sequence[int], *, wanted: bool
) -> tuple[list[Block], list[Block]]:
    """The points of a block to compute before an exchange, and those to compute during it.

    The first list is empty if no rank reads these points, if overlap is not requested, or if the
    list would contain all points.

    Args:
        thickness: see `split` in exchange/pattern.py.
    """
    shape = decomposition.block(rank).shape
    boundary, interior = split(shape, open_sides(decomposition, rank), thickness)
    if decomposition.ranks == 1 or not wanted or not interior:
        return [], [Block((0,) * len(shape), shape)]
    return boundary, interior


class TunableSolver:
    """A solver whose ranks exchange values, in the fastest way that the case allows.

    Subclasses define `set_exchange`, `timed_step`, `restart` and `partition`.

    Attributes:
        comm: the ranks.
        choice: transport, overlap and codec of the exchange.
        exchanges: the exchanges of a step that are tuned.
        small_exchanges: the others.
        aggregates: whether fields may share a message, as far as there is a choice.
    """

    setup: Any
    backend: Backend
    comm: Communicator
    choice: Choice
    exchanges: Sequence[Operation] = ()
    small_exchanges: Sequence[Operation] = ()
    aggregates: Sequence[bool] = (True, False)

    @abstractmethod
    def set_exchange(self, choice: Choice) -> None:
        """Rebuild the exchange with these options; all ranks must call it."""

    @abstractmethod
    def timed_step(self) -> list[Launch]:
        """The launches by which autotuning measures an exchange: a step, or its main part."""

    @abstractmethod
    def restart(self) -> None:
        """Return to the initial condition after autotuning."""

    @property
    @abstractmethod
    def partition(self) -> object:
        """Which rank has what; its representation tells partitions apart."""

    @property
    def exchanged(self) -> tuple[object, ...]:
        """What the best exchange depends on besides the machine, the grid and the options."""
        return ()

    def autotune(self) -> Tuning | None:
        """Choose the fastest exchange, then return to the initial condition; None on one rank."""
        if self.comm.size == 1:
            return None
        run = self.setup.case.run
        options = {"transport": run.transport, "overlap": run.overlap, "codecs": run.codecs}
        choices = halo_candidates(self.backend, self.comm, aggregates=self.aggregates, **options)
        about = (self.setup.case.solver, self.partition, options, run.narrow, self.setup.dtype)
        problem = self.comm.bcast((*about, *self.exchanged, self.comm.same_host))
        cache = cache_file(self.comm, self.backend, problem)
        tuning = tune(self.comm, choices, self._timer, cache)
        self.set_exchange(tuning.best)
        self.comm.collective_try(self.restart)
        return tuning

    def _timer(self, choice: Choice) -> Timer:
        self.set_exchange(choice)
        graph = self.backend.capture(in_order(self.timed_step()), in_graph=self._exchanges_in_graph)
        return lambda times: self.backend.measure_seconds(lambda: graph.replay(times))

    def first_choice(self) -> Choice:
        """The exchange before tuning, as the case asks for it."""
        run = self.setup.case.run
        return Choice(run.transport, overlap=bool(run.overlap), codec=run.codecs[0])

    @property
    def in_graph(self) -> bool:
        """Whether a step can be captured in a graph of launches."""
        return self._exchanges_in_graph

    @property
    def _exchanges_in_graph(self) -> bool:
        """Whether a graph can contain the exchanges."""
        return all(exchange.in_graph for exchange in self._all_exchanges)

    @property
    def _all_exchanges(self) -> list[Operation]:
        return [*self.exchanges, *self.small_exchanges]

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        for exchange in self._all_exchanges:
            exchange.check(after)

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the results, in addition to those of the set-up."""
        return ()

    @property
    def overlaps(self) -> bool:
        """Whether updates hide the exchanges."""
        return self.choice.overlap and self.comm.size > 1

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends per step."""
        return sum(exchange.bytes for exchange in self._all_exchanges)

    def close(self) -> None:
        """Release resources shared with other ranks; every rank must call it before MPI ends."""
        for exchange in self._all_exchanges:
            exchange.close()


class TimeSteppingSolver(TunableSolver):
    """A solver that advances fields in time, one step after the other.

    Subclasses also define `time`.

    Attributes:
        finite_check: the search for values that are not finite.
    """

    steps_at_once = 1
    finite_check: NonFiniteSearch
    _step: Launch

    @abstractmethod
    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""

    @property
    def step_launches(self) -> Launch:
        """The launches of a step, as one."""
        return self._step

    def step(self) -> None:
        """Enqueue one step."""
        self._step()

    def enqueue_finite_check(self) -> None:
        """Enqueue a search for values that are not finite."""
        in_order(self.finite_check.launches)()

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Raises:
            RunFailed: a value is not finite, or another rank did not respond.
        """
        super().check_health(steps, after)
        self.finite_check.check(steps, after)

    def status(self, step: int) -> str:
        """Simulated time."""
        return f"t = {time_of(self.time(step), self.time(self.setup.steps))}"


class ExchangingSolver(TunableSolver):
    """A solver whose ranks have blocks of cells and exchange ghost layers.

    Subclasses define `set_exchange`, `timed_step` and `restart`.

    Attributes:
        decomposition: which rank has which cells.
    """

    unit = "MLUPS"  # million lattice updates per second

    decomposition: Decomposition
    exchanges: Sequence[HaloExchange] = ()

    @property
    def partition(self) -> Decomposition:
        """The decomposition."""
        return self.decomposition

    def make_exchange(
        self,
        fields: Sequence[GhostField],
        decomposition: Decomposition | None = None,
        **options: Any,
    ) -> HaloExchange:
        """An exchange of these ghosts by the present choice; see `HaloExchange` for options.

        Args:
            decomposition: of the fields, if it is not that of the cells.
        """
        return HaloExchange(
            *(self.backend, self.comm, decomposition or self.decomposition, fields),
            transport=self.choice.transport,
            aggregate=self.choice.aggregate,
            codec=self.choice.codec,
            **options,
        )

    def describe_ranks(self) -> dict[str, object]:
        """How the ranks share the grid, and the transport that they actually use."""
        return {
            "count": self.comm.size,
            "processes": self.decomposition.processes[::-1],
            "transport": self.exchanges[0].path,
            "overlap": self.overlaps,
            "aggregate": self.choice.aggregate,
            "bytes_sent_per_step": self.bytes_sent,
        }


class ExplicitSolver(ExchangingSolver, TimeSteppingSolver):
    """A solver whose steps advance the fields of one block of cells in time.

    Subclasses also define `state`.

    Attributes:
        part: the cells of this rank.
        fields: by name; all of them are visible to users.
    """

    part: Part
    fields: dict[str, Field]

    @abstractmethod
    def state(self) -> Mapping[str, DistributedArray]:
        """Every array that later steps depend on, by name: the content of a checkpoint."""

    def list_step(self) -> Listing:
        """The launches of a step; arrays bear the names of fields and of the checkpoint."""
        arrays = {**self.distributed_fields(), **self.state()}
        names = {name: distributed.array for name, distributed in arrays.items()}
        return list_launches(self._step, names, "1 step")

    @property
    def updates_per_step(self) -> int:
        """Number of cells that a step updates."""
        return int(self.setup.grid.count)

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        return float(step * self.setup.dt)

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """All fields over the region, (nz, ny, nx)."""
        fields = self.fields.items()
        return {name: DistributedArray.of_region(f.interior, self.part) for name, f in fields}

    def field_state(self) -> dict[str, DistributedArray]:
        """All fields with their ghosts, for checkpoints."""
        fields = self.fields.items()
        return {name: DistributedArray.of_field(field, self.part) for name, field in fields}
