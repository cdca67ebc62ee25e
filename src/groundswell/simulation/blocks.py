"""Base classes of explicit solvers on Cartesian grids, where each rank has one block of cells.

A simple scheme derives from `BlockSetup` and `BlockSolver` and adds its own step. A solver that
lays out its fields itself derives from `exchanging.ExchangingSolver` or `ExplicitSolver`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch, Source
from groundswell.backends.base import ROW_ALIGNMENT, in_order
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.decomposition import decompose as divide
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.pattern import traffic
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import Field, Grid, Layout, Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.outputs.recording_ghosts import ghosts_read
from groundswell.simulation.exchanging import ExplicitSolver, boundary_first, part_of
from groundswell.simulation.finite_check import NonFiniteSearch, positions_in
from groundswell.simulation.solver import Cost, DecompositionSummary

THICKNESS = (2, 4)  # cells along z and y that are updated before an exchange: thread blocks


class BlockSetup:
    """Host-side preparation of a case whose fields have one value per cell.

    Subclasses are data classes with the field `case`. They define `grid`, `steps` and `dt`, and
    override other methods where needed.

    Attributes:
        case: the case.
        fields: names of the fields on the device.
        ghosts: by field, the ghost layers that a step reads.
        recordable: the fields that `[[output.record]]` can record.
        periodic: whether x, y and z are periodic.
        words_per_update: values that a step reads or writes per cell, at least; see `estimate`.
    """

    case: Any
    fields: ClassVar[Sequence[str]]
    ghosts: ClassVar[Mapping[str, Ghosts]]
    recordable: ClassVar[Sequence[RecordableField]] = ()
    periodic: ClassVar[tuple[bool, bool, bool]] = (False, False, False)
    has_fixed_steps: ClassVar[bool] = True
    words_per_update: ClassVar[float] = 0.0

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
        attrs = {"title": self.case.title}
        return Recording(domain, fields, self.dtype, self.dt, attrs=attrs, steps=self.steps)

    def cut(self, ranks: int) -> Decomposition:
        """The decomposition of the grid, with the process grid of the case if it has one.

        Raises:
            InputError: there are too few cells for this number of ranks.
        """
        processes = self.case.run.processes
        wanted = tuple(processes)[::-1] if processes else None
        return divide(self.grid.shape, ranks, self.periodic[::-1], wanted)


BlockSetupT = TypeVar("BlockSetupT", bound=BlockSetup)


def validated(setup: BlockSetupT) -> BlockSetupT:
    """The set-up, after its checks.

    Raises:
        InputError: the case cannot run.
    """
    setup.validate()
    setup.recording(setup.whole).require_samples(setup.case.output.record, setup.steps)
    return setup


# --- this module is the `cost` of solvers whose fields and records need all memory ----------------


def estimate(setup: BlockSetup) -> Cost:
    """The cost of a run on one rank."""
    files = setup.recording(setup.whole).file_bytes(setup.case.output.record, setup.steps)
    traffic, memory = setup.words_per_update * setup.itemsize, memory_of(setup, setup.whole)
    return Cost(setup.grid.count, traffic, memory, files)


def memory_of(setup: BlockSetup, part: Part) -> int:
    """Device memory of the fields and records of one part, bytes."""
    fields = len(setup.fields) * setup.itemsize * Layout(part.cells, setup.itemsize).size
    return fields + setup.recording(part).device_bytes(setup.case.output.record)


def decompose(setup: BlockSetup, ranks: int) -> DecompositionSummary:
    """Summary of the decomposition for a number of ranks; raises what `BlockSetup.cut` raises."""
    cut = setup.cut(ranks)
    memory = [memory_of(setup, part_of(setup.grid, cut, rank)) for rank in range(ranks)]
    sent = traffic(cut, [(ghosts, setup.itemsize) for ghosts in setup.ghosts.values()])
    return DecompositionSummary.of_blocks(cut, memory, sent)


class BlockSolver(ExplicitSolver):
    """One rank's part of an explicit scheme on a Cartesian grid, with one exchange per step.

    Subclasses define `source`, `start` and `compose`.

    Attributes:
        outputs: the recorders of `[[output.record]]`.
        module: the compiled kernels.
    """

    def __init__(self, setup: Any, backend: Backend, comm: Communicator | None = None) -> None:
        self.setup, self.backend, self.comm = setup, backend, comm or SerialCommunicator()
        self.decomposition = setup.cut(self.comm.size)
        self.part = part_of(setup.grid, self.decomposition, self.comm.rank)
        self.layout = Layout(self.part.cells, setup.itemsize)
        self.fields = {name: Field(backend, self.layout, setup.dtype) for name in setup.fields}
        self.module = backend.compile(self.source())
        interiors = {name: field.interior for name, field in self.fields.items()}
        self.outputs = Recorders(
            setup.case.output.record,
            setup.recording(self.part),
            interiors,
            backend,
            self.comm,
        )
        self.finite_check = NonFiniteSearch(backend, interiors, self.time, positions_in(self.part))
        self.set_exchange(self.first_choice())
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

    def interior(self, name: str, box: Block | None = None) -> DeviceArray:
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

    def update_and_exchange(self, update: Callable[[Block], Launch]) -> list[Launch]:
        """Launches that update all cells and exchange ghosts; the interior overlaps the exchange.

        The cells that neighbours need are updated first.
        """
        wanted, rank = self.choice.overlap, self.comm.rank
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

    def state(self) -> dict[str, DistributedArray]:
        """All fields with their ghosts, and the state of the recorders."""
        return self.field_state() | self.outputs.state()

    def set_exchange(self, choice: Choice) -> None:
        """Rebuild the exchange and the step with these options; all ranks must call it."""
        self.close()
        self.choice = choice
        self.exchanges = (self.make_exchange(list(self._ghost_fields())),)
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

    def timed_step(self) -> list[Launch]:
        """The launches of a step, without recorders."""
        return self.compose()

    def restart(self) -> None:
        """Reset the fields to the initial condition, and the recorders."""
        for field in self.fields.values():
            self.backend.assign(field.array, np.zeros(field.array.shape, self.setup.dtype))
        self.outputs.restart()
        self.start()
