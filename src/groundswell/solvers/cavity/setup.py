"""Host-side preparation of a case: its grids, its steps, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Part
from groundswell.outputs.recording import Recording
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.fluid import Fluid
from groundswell.solvers.cavity.initial_condition import check_initial_flow
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.recording import recording, records_of
from groundswell.solvers.cavity.scales import Scales
from groundswell.solvers.cavity.solid_grid import misfits
from groundswell.time_integration.runge_kutta import Scheme

# Defaults: maximum number of steps, and steps between checks; with several grids, of cycles.
STEPS, CHECK_EVERY = 1_000_000, 100
CYCLES, CHECK_EVERY_CYCLES = 10_000, 1
TOLERANCES = {"double": 1e-8, "single": 1e-5}
TOLERANCE_IN_TIME, CYCLES_OF_STEP = 1e-5, 100
MAX_LEVELS = 8

# Smoothing steps before and after a correction, on the finest grid and on coarser ones, where a
# step costs an eighth or less, and all steps on the coarsest. With 4 on the finest grid, cubes do
# not converge at Ra = 3e5. In time, 6 and 16 diverge in a tall cavity with 79 x 255 points.
SMOOTHING, COARSE_SMOOTHING, COARSEST_STEPS = 12, 32, 100
CROSSINGS = 5  # of the longest axis of the coarsest grid in these steps, one spacing in each
ALONE = -1  # the stage in which steps on the finest grid replace cycles that fail


@dataclass(frozen=True)
class Setup:
    """A prepared case.

    Args:
        grids: those of multigrid, finest first.
        exchange_points: see `decomposition.divide_grids`; tests and benchmarks set it.
    """

    case: CavityCase
    grids: tuple[LevelGrid, ...]
    exchange_points: int | None = None

    @property
    def has_fixed_steps(self) -> bool:
        """Whether the run makes all steps: a steady flow ends it early."""
        return self.is_unsteady

    @property
    def is_unsteady(self) -> bool:
        """Whether the flow develops in time."""
        return self.case.time.is_unsteady

    @property
    def finest(self) -> LevelGrid:
        """The grid of the case."""
        return self.grids[0]

    @property
    def recording(self) -> Recording:
        """The recordable fields of the whole flow."""
        return recording(self.finest, Part.whole(self.finest.grid))

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return self.case.run.dtype

    @property
    def scheme(self) -> Scheme:
        """The time-stepping scheme."""
        return self.finest.scheme

    @property
    def scales(self) -> Scales:
        """The scales of the flow."""
        return self.finest.scales

    @property
    def fluid(self) -> Fluid:
        """The fluid, in the units of the case."""
        return self.finest.fluid

    @property
    def check_every(self) -> int:
        """Steps between checks of the residuals."""
        default = CHECK_EVERY if self._is_explicit else CHECK_EVERY_CYCLES
        return self._whole_cycles(self.case.time.check_every or default)

    @property
    def _is_explicit(self) -> bool:
        """Whether steps are explicit ones on a single grid."""
        return len(self.grids) == 1 and not self.finest.is_implicit

    @property
    def tolerance(self) -> float:
        """Residual at which the run ends; the default lies a little above the rounding level."""
        default = TOLERANCE_IN_TIME if self.is_unsteady else TOLERANCES[self.case.run.precision]
        return self.case.time.tolerance or default

    @property
    def steps(self) -> int:
        """Number of steps in time; in steady flow, the maximum of steps or, with grids, cycles."""
        if self.is_unsteady:
            return self.case.time.steps_in_time
        default = STEPS if self._is_explicit else CYCLES
        return self._whole_cycles(self.case.time.steps or default)

    @property
    def cycles(self) -> int:
        """Maximum number of cycles in a step in time."""
        return self.case.time.steps or CYCLES_OF_STEP

    @property
    def sweeps(self) -> int:
        """About how often the finest grid is swept in the whole run, for choices of kernels."""
        return self.steps * (2 * SMOOTHING if self.is_unsteady else 1)

    def _whole_cycles(self, steps: int) -> int:
        """So many steps, rounded up to whole cycles of the scheme."""
        at_once = self.scheme.steps_per_cycle
        return -(-steps // at_once) * at_once

    @property
    def dt(self) -> float:
        """The implicit step, or an estimate of a typical explicit one, s."""
        if self.is_unsteady:
            return self.case.time.dt
        return self.scales.implicit_step if self.finest.is_implicit else self.finest.dt

    def grids_of(self, stage: int) -> slice:
        """The grids of a cycle in a stage: those from index `stage` on, or the finest alone."""
        return slice(0, 1) if stage == ALONE else slice(stage, None)

    def cycle(self, stage: int = 0) -> list[int]:
        """Steps of a cycle on each grid of a stage; one or, in time, many with a single grid."""
        count = len(self.grids)
        if count == 1:
            return [self._coarsest_steps if self.finest.is_implicit else 1]
        if stage == ALONE:
            return [COARSEST_STEPS]
        coarse = [2 * COARSE_SMOOTHING] * (count - 2)
        return [2 * SMOOTHING, *coarse, self._coarsest_steps][stage:]

    @property
    def _coarsest_steps(self) -> int:
        """Steps of a cycle on the coarsest grid; in time, enough for waves to cross it."""
        across = max(self.grids[-1].points) if self.is_unsteady else 0
        return max(COARSEST_STEPS, CROSSINGS * across)

    def updates_from(self, stage: int) -> int:
        """Points that a cycle updates in a stage."""
        grids = zip(self.cycle(stage), self.grids[self.grids_of(stage)], strict=True)
        return sum(steps * grid.grid.count for steps, grid in grids)


def prepare(case: CavityCase, comm: Communicator | None = None) -> Setup:
    """Prepare a case, having checked the files that it names.

    Raises:
        InputError: the initial flow or a recorder cannot be used, or a block does not fit the grid.
    """
    setup = Setup(case, (*grids_of(case),))
    if unfit := [*misfits(setup.finest)]:
        raise InputError("\n".join(unfit))
    if case.start is not None:
        check_initial_flow(case)
    setup.recording.require_samples(records_of(setup.finest), setup.steps)
    return setup


def grids_of(case: CavityCase) -> list[LevelGrid]:
    """The grid of a case and the coarser ones of multigrid, finest first."""
    limit, grids = case.time.levels or MAX_LEVELS, [LevelGrid(case, case.grid.points)]
    if not case.time.multigrid:
        return grids
    while len(grids) < limit and (coarser := _fitting(grids[-1].coarser)) is not None:
        if case.time.levels is None and not coarser.accelerates:
            break
        grids.append(coarser)
    return grids


def _fitting(grid: LevelGrid | None) -> LevelGrid | None:
    """The grid if it can represent all solids."""
    return None if grid is None or any(misfits(grid)) else grid
