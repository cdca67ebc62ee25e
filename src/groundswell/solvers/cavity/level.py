"""One rank's part of one grid: the fields, and the kernels that sweep over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray
from groundswell.backends import Backend, Blocks, Cells, Launch
from groundswell.backends.base import ROW_ALIGNMENT, in_order
from groundswell.exchange.communicator import Communicator, SingleRank
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.gathering import gather_blocks
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts, uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recording_ghosts import ghosts_read
from groundswell.simulation.exchanging import boundary_first
from groundswell.solvers.cavity.boundary_conditions import shaped_walls
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.decomposition import STENCIL_GHOSTS
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.level_kernels import kernel_source, metric_of
from groundswell.solvers.cavity.recording import recording, records_of
from groundswell.solvers.cavity.solid_grid import SolidGrid
from groundswell.solvers.cavity.tiles import Tile

SUMS = 6  # in each partial sum, see kernels/step.h
LANES = 32
MAX_PARTIAL_SUMS = 4096  # which the host adds up
THICKNESS = (2, 4)  # points, of the slabs along z and y computed before the exchange

TRANSFER_GHOSTS = dict.fromkeys(FIELDS, uniform(GHOSTS, corners=True))  # read by interpolation

FlowState = dict[str, Field]


class Level:
    """One rank's part of one grid.

    Args:
        ranks: all ranks.
        decomposition: which rank computes which points: one block for each, or a single one, which
            every rank computes.
        choice: how ranks exchange ghosts.
        steps: number of steps of the run.

    Attributes:
        comm: the ranks that share the grid.
        part: the points of this rank.
        copies: copies of the fields; the first is the flow, the others hold stages of a step.
        exchanges: the ghost exchange of each copy.
        forcing: what the finer grid, or the earlier flow, adds to the rates of change.
        restricted: the fine flow as restricted to this grid, and later the correction to it.
        step_sizes: each stage's step, (stages,): s, or a factor of the local limit.
        make_exchange: creates the exchanges; benchmarks replace it.
    """

    make_exchange: Callable[..., HaloExchange] = HaloExchange
    _scheme_cycle: list[Launch] | None

    def __init__(
        self,
        grid: LevelGrid,
        backend: Backend,
        ranks: Communicator,
        decomposition: Decomposition,
        choice: Choice,
        steps: int,
    ) -> None:
        self.grid, self.backend, self.ranks = grid, backend, ranks
        self.comm = ranks if decomposition.ranks == ranks.size else SingleRank()
        self.decomposition, self.coarse = decomposition, grid.depth > 0
        block = decomposition.block(self.comm.rank)
        self.part = Part.from_block(grid.grid, block.start, block.shape)
        self.layout = Layout(self.part.cells, np.dtype(grid.dtype).itemsize)
        self.copies = [self.new_state() for _ in range(grid.scheme.copies)]
        self.forcing = self.new_state() if grid.is_forced else self.copies[0]
        self.restricted = self.new_state() if self.coarse else self.copies[0]
        self.tile = Tile.of(self.part.cells, backend.processors)
        self.module = backend.compile(kernel_source(grid, self.part, backend.processors, steps))
        self._metric = backend.to_device(metric_of(grid, self.part))
        self.step_sizes = backend.zeros((len(grid.scheme.stages),), grid.dtype)
        self.solids = self._solid_fields() if grid.case.solid else {}
        parts = min(self.part.cells[1] * self.part.cells[2], MAX_PARTIAL_SUMS)
        self._sums = backend.zeros((parts, SUMS), np.float64)
        self.set_exchange(choice)

    @property
    def is_shared(self) -> bool:
        """Whether each rank computes a part of the grid, or the only rank computes all."""
        return self.comm.size == self.ranks.size

    # --- steps ------------------------------------------------------------------------------------

    def steps(self, count: int) -> list[Launch]:
        """The launches of `count` steps, rounded up to whole cycles of the scheme."""
        scheme = self.grid.scheme
        if self._scheme_cycle is None:  # all its repetitions share the launches
            sweeps = scheme.sweeps()
            self._scheme_cycle = [launch for sweep in sweeps for launch in self._sweep(*sweep)]
        return self._scheme_cycle * -(-count // scheme.steps_per_cycle)

    def _sweep(self, start: int, latest: int, target: int, stage: int) -> list[Launch]:
        """One stage; the ghost exchange overlaps with the computation of the interior."""
        boundary, interior = boundary_first(
            self.decomposition, self.comm.rank, self._thickness, wanted=self.choice.overlap
        )
        before, during = (
            [self._advance(box, start, latest, target, stage) for box in boxes]
            for boxes in (boundary, interior)
        )
        return self.exchanges[target].overlap_with(boundary=before, interior=during)

    def _advance(self, box: Block, start: int, latest: int, target: int, stage: int) -> Launch:
        states = {"1": self.copies[latest], "f": self.forcing, "2": self.copies[target]}
        if start != latest:
            states["0"] = self.copies[start]
        kernel = "advance_first" if start == latest else "advance"
        step_size = self.step_sizes[stage : stage + 1]
        arguments = {"pace": step_size, "metric": self._metric}
        return self._in_box(kernel, box, **arguments, **_fields_of(states))

    def set_step_sizes(self, limit: float = 0.0) -> None:
        """Set the step size of each stage.

        Args:
            limit: one over the longest step that is stable at all points, 1/s; not needed with
                local steps.
        """
        limit = max(limit, self.grid.least_limit)
        step = self.grid.courant / (1.0 if self.grid.case.time.local else limit)
        stages = step * np.array(self.grid.scheme.stages)
        self.backend.assign(self.step_sizes, stages.astype(self.grid.dtype))

    # --- rates of change --------------------------------------------------------------------------

    def compute_rates(self, into: FlowState, *, forced: bool) -> Launch:
        """Compute the rates of change, that of pressure divided by beta squared.

        Args:
            into: where to store them.
            forced: whether to include the forcing.
        """
        fields = _fields_of({"1": self.copies[0], "f": self.forcing, "2": into})
        whole = Block((0, 0, 0), self.part.shape)
        arguments: dict[str, DeviceArray | int] = {"is_forced": int(forced)}
        return self._in_box("find_rates", whole, metric=self._metric, **arguments, **fields)

    def measure(self) -> tuple[Floats, float]:
        """Root mean squares of the rates of change, (5,), and one over the stable step, 1/s."""
        self.compute_rates(self.copies[1], forced=self.grid.is_implicit)()
        parts = len(self._sums)
        fields = _fields_of({"1": self.copies[0], "2": self.copies[1]})
        extent = Blocks(parts, LANES)
        more = {"metric": self._metric, "sums": self._sums} | self.solids
        self.module.launch("sum_rows", extent, **fields, **more, parts=parts)()
        sums = self.backend.to_host(self._sums)
        sums_of_ranks = self.comm.allgather((sums[:, :-1].sum(axis=0), float(sums[:, -1].max())))
        squares = sum(squares for squares, _ in sums_of_ranks)
        found = np.sqrt(squares / self.grid.grid.count), max(limit for _, limit in sums_of_ranks)
        # Other devices may round differently, but all ranks must take the same decisions.
        agreed: tuple[Floats, float] = found if self.is_shared else self.ranks.bcast(found)
        return agreed

    # --- ghosts -----------------------------------------------------------------------------------

    def fill_ghosts(self) -> list[Launch]:
        """The launches that exchange the flow's ghosts."""
        return self.exchanges[0].launches

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in one sweep."""
        return self.exchanges[0].bytes

    def _recorded(self, copy: FlowState) -> list[GhostField]:
        """The ghosts that recorders read of the flow; only the finest grid has recorders."""
        if self.coarse or copy is not self.copies[0]:
            return []
        whole = recording(self.grid, Part.whole(self.grid.grid))
        return self._fields(copy, ghosts_read(whole, records_of(self.grid), self.decomposition))

    def exchange(
        self, *states: FlowState, ghosts: Mapping[str, Ghosts], more: Sequence[GhostField] = ()
    ) -> HaloExchange:
        """An exchange of the ghosts of states, and of `more`, with the chosen options."""
        return self.make_exchange(
            self.backend,
            self.comm,
            self.decomposition,
            [*(field for state in states for field in self._fields(state, ghosts)), *more],
            transport=self.choice.transport,
            aggregate=self.choice.aggregate,
            codec=self.choice.codec,
        )

    def gather_blocks(self, blocks: Decomposition, *states: FlowState) -> HaloExchange:
        """An exchange by which every rank gets all points, from the ranks of their blocks."""
        fields = [field for state in states for field in state.values()]
        return gather_blocks(
            *(self.backend, self.ranks, blocks, [field.array for field in fields]),
            fields[0].origin,
            transport=self.choice.transport,
        )

    def _fields(self, state: FlowState, ghosts: Mapping[str, Ghosts]) -> list[GhostField]:
        narrow = self.grid.case.run.narrow
        return [
            GhostField(state[name].array, state[name].origin, of, narrow)
            for name, of in ghosts.items()
        ]

    def set_exchange(self, choice: Choice) -> None:
        """Create the exchanges anew; collective. The caller has closed the present ones."""
        self.choice = choice
        self._scheme_cycle = None
        self.exchanges = [
            self.exchange(copy, ghosts=STENCIL_GHOSTS, more=self._recorded(copy))
            for copy in self.copies
        ]

    # --- launches ---------------------------------------------------------------------------------

    def fill(self, values: dict[str, HostArray]) -> None:
        """Set fields, each (nz, ny, nx), and their ghosts; temperature less the neutral one, K."""
        for name, inside in values.items():
            self.backend.assign(self.copies[0][name].interior, inside.astype(self.grid.dtype))
        self.set_walls()
        in_order([*self.set_at_rest(self.copies[0])])()
        in_order(self.fill_ghosts())()

    def set_walls(self) -> None:
        """Store temperatures of walls that vary in the ghosts of all copies."""
        for index, values in shaped_walls(self.grid, self.part):
            for copy in self.copies:
                self.backend.assign(copy["T"].array[index], values.astype(self.grid.dtype))

    def set_at_rest(self, state: FlowState) -> list[Launch]:
        """The launch that sets pressure and velocity in solids to zero, if there are any."""
        if not self.solids:
            return []
        arrays = {name: state[name].interior for name in ("p", "u", "v", "w")}
        cells = Cells(*self.part.cells)
        return [self.module.launch("set_at_rest", cells, **arrays, fluid=self.solids["fluid"])]

    def _solid_fields(self) -> dict[str, DeviceArray]:
        """The arrays of kernels/solids.h."""
        found: dict[str, DeviceArray] = {}
        for name, values in SolidGrid(self.grid, self.part).fields().items():
            field = Field(self.backend, self.layout, self.grid.dtype)
            self.backend.assign(field.array, values.astype(self.grid.dtype))
            found[name] = field.interior
        return found

    def named_arrays(self) -> dict[str, DeviceArray]:
        """The arrays of this grid by name; copies of the fields but the first have numbers."""
        states = {"": self.copies[0]}
        states |= {f"copy{n}.": copy for n, copy in enumerate(self.copies[1:], start=1)}
        if self.grid.is_forced:
            states |= {"forcing.": self.forcing}
        if self.coarse:
            states |= {"restricted.": self.restricted}
        fields = {
            f"{prefix}{name}": field.interior
            for prefix, state in states.items()
            for name, field in state.items()
        }
        return {**fields, **self.solids, "step_sizes": self.step_sizes}

    def distributed(self, field: Field) -> DistributedArray:
        """A field with its ghosts, for checkpoints."""
        found = DistributedArray.of_field(field, self.part)
        return found if self.is_shared else found.owned_by_first(self.ranks)

    def new_state(self) -> FlowState:
        """Fields of this grid, zero."""
        return {name: Field(self.backend, self.layout, self.grid.dtype) for name in FIELDS}

    @property
    def _thickness(self) -> tuple[int, ...]:
        return (*THICKNESS, ROW_ALIGNMENT // self.layout.itemsize)

    def _in_box(self, kernel: str, box: Block, **arguments: DeviceArray | int) -> Launch:
        for axis, first, count in zip("kji", box.start, box.shape, strict=True):
            arguments |= {f"first_{axis}": first, f"count_{axis}": count}
        arguments |= self.solids
        return self.module.launch(kernel, self.tile.cover(box), **arguments)


def _fields_of(states: Mapping[str, FlowState]) -> dict[str, DeviceArray]:
    """Arguments of kernels: the fields of states, whose names end with the key of the state."""
    return {
        f"{name.lower()}{key}": state[name].interior
        for key, state in states.items()
        for name in FIELDS
    }
