"""Base classes of explicit solvers on Cartesian grids, where each rank has one block of cells.

A simple scheme derives from `BlockSetup` and `BlockSolver` and adds its own step. A solver that
lays out its fields itself derives from `ExchangingSolver`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Array, Backend, Launch, Source
from groundswell.backends.base import ROW_ALIGNMENT, Event, in_order
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.overlap import Box, boundary_first
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.traffic import traffic
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, Tuning, candidates, tune
from groundswell.exchange.world import Alone, World
from groundswell.grids.cartesian import Field, Grid, Layout, Part
from groundswell.outputs.cartesian import CartesianDomain, ghosts_read
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.simulation.finite_check import NonFiniteSearch
from groundswell.simulation.solver import DecompositionSummary

THICKNESS = (2, 4)  # cells along z and y that are updated before an exchange: thread blocks


class BlockSetup:
    """Host-side preparation of a case whose fields have one value per cell.

    Subclasses are data classes with the field `case`. They define `grid`, `steps`, `dt`,
    `bytes_per_update` and `quantities`, and override other methods where needed.

    Attributes:
        case: the case.
        fields: names of the fields on the device.
        ghosts: by field, the ghost layers that a step reads.
        recordable: the fields that `[[output.record]]` can record.
        periodic: whether x, y and z are periodic.
    """

    case: Any
    fields: ClassVar[Sequence[str]]
    ghosts: ClassVar[Mapping[str, Ghosts]]
    recordable: ClassVar[Sequence[RecordableField]] = ()
    periodic: ClassVar[tuple[bool, bool, bool]] = (False, False, False)
    has_fixed_steps: ClassVar[bool] = True

    @classmethod
    def from_case(cls, case: Any, communicator: Any = None) -> Self:
        """Create the set-up of a case and validate it.

        Raises:
            InputError: the case cannot run.
        """
        setup = cls(case)  # type: ignore[call-arg]
        setup.validate()
        setup.recording(setup.whole).require_samples(case.output.record, setup.steps)
        return setup

    @abstractmethod
    def validate(self) -> None:
        """Raise InputError if sections of the case contradict each other."""

    @property
    @abstractmethod
    def grid(self) -> Grid:
        """The grid."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Number of steps of the run."""

    @property
    @abstractmethod
    def dt(self) -> float:
        """The time step, s."""

    @property
    def whole(self) -> Part:
        """All cells as one part."""
        return Part.whole(self.grid)

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return str(self.case.run.dtype)

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return np.dtype(self.dtype).itemsize

    @property
    def updates_per_step(self) -> int:
        """Number of cells."""
        return self.grid.count

    @property
    def memory(self) -> int:
        """Device memory of fields and records, bytes."""
        return self.memory_of(self.whole)

    def memory_of(self, part: Part) -> int:
        """Device memory of the fields and records of one part, bytes."""
        fields = len(self.fields) * self.itemsize * Layout(part.cells, self.itemsize).size
        return fields + self.recording(part).device_bytes(self.case.output.record)

    @property
    def output_bytes(self) -> int:
        """Size of the files of records, bytes."""
        return self.recording(self.whole).file_bytes(self.case.output.record, self.steps)

    def recording(self, part: Part) -> Recording:
        """The recordable fields of a rank's part, with values at cell centres."""
        grid = self.grid
        x, y, z = (h / 2 for h in grid.spacing)
        edges = zip(grid.region, grid.spacing, strict=True)
        a, b, c = (n * h for n, h in edges)
        domain = CartesianDomain(
            part, (x, y, z), (0.0, 0.0, 0.0), (a, b, c), periodic=self.periodic
        )
        fields = {field.name: field for field in self.recordable}
        return Recording(domain, fields, self.dtype, self.dt, attrs={"title": self.case.title})

    def warnings(self) -> Sequence[str]:
        """Warnings before the run; none by default."""
        return ()

    def cut(self, ranks: int) -> Decomposition:
        """The decomposition of the grid, with the process grid of the case if it has one.

        Raises:
            InputError: there are too few cells for so many ranks.
        """
        processes = self.case.run.processes
        wanted = tuple(processes)[::-1] if processes else None
        return decompose(self.grid.shape, ranks, self.periodic[::-1], wanted)

    def decompose(self, ranks: int) -> DecompositionSummary:
        """Summary of the decomposition for a number of ranks; raises what `cut` raises."""
        cut = self.cut(ranks)
        memory = [self.memory_of(part_of(self.grid, cut, rank)) for rank in range(ranks)]
        sent = traffic(cut, [(ghosts, self.itemsize) for ghosts in self.ghosts.values()])
        return DecompositionSummary.of_blocks(cut, memory, sent)


def part_of(grid: Grid, cut: Decomposition, rank: int) -> Part:
    """The cells that a rank holds."""
    block = cut.block(rank)
    return Part.from_block(grid, block.start, block.shape)


class ExchangingSolver:
    """A solver whose ranks exchange ghost layers.

    Attributes:
        world: the ranks.
        decomposition: which rank has which cells.
        choice: transport, overlap and codec of the exchange.
        exchanges: the exchanges of a step.
    """

    unit = "MLUPS"  # million lattice updates per second
    warnings: Sequence[str] = ()  # in addition to those of the set-up

    world: World
    decomposition: Decomposition
    choice: Choice
    exchanges: Sequence[Exchange] = ()

    @property
    def in_graph(self) -> bool:
        """Whether a step can be captured in a graph of launches."""
        return all(exchange.in_graph for exchange in self.exchanges)

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        for exchange in self.exchanges:
            exchange.check(after)

    def describe_ranks(self) -> dict[str, Any]:
        """How the ranks share the grid, and the transport that they actually use."""
        return {
            "count": self.world.size,
            "processes": self.decomposition.processes[::-1],
            "transport": self.exchanges[0].path,
            "overlap": self.overlaps,
            "aggregate": self.choice.aggregate,
            "bytes_sent_per_step": self.bytes_sent,
        }

    @property
    def overlaps(self) -> bool:
        """Whether updates hide the exchanges."""
        return self.choice.overlap and self.world.size > 1

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends per step."""
        return sum(exchange.bytes for exchange in self.exchanges)

    def close(self) -> None:
        """Release resources shared with other ranks; every rank must call it before MPI ends."""
        for exchange in self.exchanges:
            exchange.close()


class BlockSolver(ExchangingSolver):
    """One rank's part of an explicit scheme on a Cartesian grid, with one exchange per step.

    Subclasses define `source`, `start` and `compose`.

    Attributes:
        part: the cells of this rank.
        fields: by name. Together they are the state, and all of them are visible to users.
        outputs: the recorders of `[[output.record]]`.
        module: the compiled kernels.
    """

    steps_at_once = 1

    def __init__(self, setup: Any, backend: Backend, world: World | None = None) -> None:
        self.setup, self.backend, self.world = setup, backend, world or Alone()
        self.decomposition = setup.cut(self.world.size)
        self.part = part_of(setup.grid, self.decomposition, self.world.rank)
        self.layout = Layout(self.part.cells, setup.itemsize)
        self.fields = {name: Field(backend, self.layout, setup.dtype) for name in setup.fields}
        self.module = backend.compile(self.source())
        interiors = {name: field.interior for name, field in self.fields.items()}
        self.outputs = Recorders(
            setup.case.output.record,
            setup.recording(self.part),
            interiors,
            backend,
            self.world,
        )
        self._finite_check = NonFiniteSearch(backend, interiors, self.part, setup.dt)
        run = setup.case.run
        self.set_exchange(Choice(run.transport, overlap=bool(run.overlap), codec=run.codecs[0]))
        self.start()

    # --- to be defined by subclasses --------------------------------------------------------------

    @abstractmethod
    def source(self) -> Source:
        """The kernels."""

    @abstractmethod
    def start(self) -> None:
        """Set the fields and their ghosts, which are zero, to the initial condition."""

    @abstractmethod
    def compose(self) -> list[Launch]:
        """The launches of a step."""

    # --- helpers of subclasses --------------------------------------------------------------------

    def interior(self, name: str, box: Box | None = None) -> Array:
        """View of a field without its ghosts, (nz, ny, nx), or of a box of it."""
        whole = self.fields[name].interior
        if box is None:
            return whole
        return whole[tuple(slice(a, a + n) for a, n in zip(box.start, box.shape, strict=True))]

    def fill(self, name: str, values: ArrayLike) -> None:
        """Set a field without its ghosts to values (nz, ny, nx)."""
        self.backend.assign(self.interior(name), np.ascontiguousarray(values, self.setup.dtype))

    def exchange(self) -> list[Launch]:
        """Launches that fill the ghosts of all fields."""
        return self.exchanges[0].launches

    def update_and_exchange(self, update: Callable[[Box], Launch]) -> list[Launch]:
        """Launches that update all cells and exchange ghosts; the interior overlaps the exchange.

        The cells that neighbours need are updated first.
        """
        wanted, rank = self.choice.overlap, self.world.rank
        boundary, interior = boundary_first(
            self.decomposition, rank, self._thickness, wanted=wanted
        )
        return self.exchanges[0].overlap_with(
            boundary=[update(box) for box in boundary], interior=[update(box) for box in interior]
        )

    @property
    def _thickness(self) -> tuple[int, ...]:
        widest = np.max([(g.low, g.high) for g in self.setup.ghosts.values()], axis=(0, 1))
        lines = (*THICKNESS, ROW_ALIGNMENT // self.setup.itemsize)
        return tuple(int(n) for n in np.maximum(widest, lines))

    # --- the solver interface ---------------------------------------------------------------------

    def step(self) -> None:
        """Enqueue one step."""
        self._step()

    def enqueue_finite_check(self) -> None:
        """Enqueue a search for values that are not finite."""
        in_order(self._finite_check.launches)()

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Raises:
            RunFailed: a value is not finite, or another rank did not respond.
        """
        super().check_health(steps, after)
        self._finite_check.check(steps, after)

    @property
    def updates_per_step(self) -> int:
        """Number of cells that a step updates."""
        return int(self.setup.updates_per_step)

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        return float(step * self.setup.dt)

    def status(self, step: int) -> str:
        """Simulated time."""
        return f"t = {self.time(step):.4g} of {self.time(self.setup.steps):.4g} s"

    def state(self) -> dict[str, DistributedArray]:
        """All fields with their ghosts, and the state of the recorders."""
        fields = self.fields.items()
        state = {name: DistributedArray.of_field(field, self.part) for name, field in fields}
        return state | self.outputs.state()

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """All fields over the region, (nz, ny, nx)."""
        fields = self.fields.items()
        return {name: DistributedArray.of_region(f.interior, self.part) for name, f in fields}

    def set_exchange(self, choice: Choice) -> None:
        """Rebuild the exchange with these options; all ranks must call it."""
        self.close()
        self.choice = choice
        exchange = Exchange(
            self.backend,
            self.world,
            self.decomposition,
            list(self._ghost_fields()),
            transport=choice.transport,
            aggregate=choice.aggregate,
            codec=choice.codec,
        )
        self.exchanges = (exchange,)
        records = self.backend.concurrently(*([launch] for launch in self.outputs.launches))
        self._step = in_order([*records, *self.outputs.tick, *self.compose()])

    def _ghost_fields(self) -> Iterator[GhostField]:
        """The ghosts that a step reads, and those that interpolating recorders read."""
        setup, run = self.setup, self.setup.case.run
        recorded = ghosts_read(
            setup.recording(setup.whole), setup.case.output.record, self.decomposition
        )
        for name, ghosts in [*setup.ghosts.items(), *recorded.items()]:
            yield GhostField(self.fields[name].array, self.fields[name].origin, ghosts, run.narrow)

    def autotune(self) -> Tuning | None:
        """Choose the fastest exchange, then reset the fields to the initial condition."""
        if self.world.size == 1:
            return None
        run, cut = self.setup.case.run, self.decomposition
        options = {"transport": run.transport, "overlap": run.overlap, "codecs": run.codecs}
        choices = candidates(self.backend, self.world, **options)
        problem = (self.setup.case.solver, cut, options, run.narrow, self.setup.dtype)
        problem = self.world.tell((*problem, self.world.same_host))
        memory = Memory.of(self.world, self.backend, problem)
        tuning = tune(self.world, choices, self._rehearsal, memory)
        self.set_exchange(tuning.best)
        self.world.agree(self._restart)
        return tuning

    def _rehearsal(self, choice: Choice) -> Rehearsal:
        self.set_exchange(choice)
        graph = self.backend.capture(in_order(self.compose()), in_graph=self.in_graph)
        return lambda times: self.backend.measure_seconds(lambda: graph.replay(times))

    def _restart(self) -> None:
        for field in self.fields.values():
            self.backend.assign(field.array, np.zeros(field.array.shape, self.setup.dtype))
        self.outputs.restart()
        self.start()
