"""Host-side preparation: time step, sources, receivers and estimates; on a grid of bricks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from groundswell.case.quantities import Quantity
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import Communicator
from groundswell.grids.geography import Geography
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.octree import partition_curve
from groundswell.outputs.recording import Recording
from groundswell.seismology.formats.sac_mseed import require_formats
from groundswell.seismology.media.material import Medium
from groundswell.seismology.receivers import Receiver, place_receivers
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event import SourceSummary
from groundswell.seismology.sources.placement import require_sources_inside
from groundswell.seismology.sources.point_sources import PointSource, SourceContext
from groundswell.seismology.sources.spectra import highest_frequency
from groundswell.seismology.survey import Survey
from groundswell.seismology.time_steps import StableSteps, TimeAxis, TimeStep
from groundswell.solvers.dgwave import validation
from groundswell.solvers.dgwave.boundaries.layers import build_grid
from groundswell.solvers.dgwave.element_costs import element_costs
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, Equations
from groundswell.solvers.dgwave.materials.brick_media import build_media
from groundswell.solvers.dgwave.materials.statistics import ElementStatistics, element_statistics
from groundswell.solvers.dgwave.memory import nodal_tables
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.case import POINTS_PER_WAVELENGTH
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.mesh.forest import require_memory
from groundswell.solvers.dgwave.recording.records import recording
from groundswell.solvers.dgwave.setup.element_materials import ElementMaterials
from groundswell.solvers.dgwave.setup.quantities import grid_quantities
from groundswell.solvers.dgwave.setup.step_limit import StepLimit
from groundswell.solvers.dgwave.shared_traces import TraceFormat
from groundswell.spectral_elements.recording import ElementDomain

Floats = NDArray[np.float64]
SAMPLES_PER_STEP = 4  # of source time functions, which are linear between samples


@dataclass(frozen=True)
class Setup(ElementMaterials):
    """A validated case with its mesh, medium, sources, receivers and time step.

    Args:
        grid: the elements of the region and of the absorbing layers around it.
        media: average materials of the region's elements, and of elements halved once, twice and
            so on.
        comm: the ranks, each of which reads a part of the materials; None for a single rank.

    Attributes:
        statistics: extremes of the material of all elements.

    Raises:
        InputError: the medium is unreadable or unphysical.
    """

    has_fixed_steps: ClassVar[bool] = True

    case: Any
    grid: Bricks
    geography: Geography | None
    media: Sequence[Medium]
    comm: InitVar[Communicator | None]
    statistics: ElementStatistics = field(init=False)

    def __post_init__(self, comm: Communicator | None) -> None:
        object.__setattr__(self, "statistics", element_statistics(self, comm))

    def validate(self) -> None:
        """Evaluate all that may raise `InputError`, so that a run does not fail later."""
        _ = self.relaxation, self.connectivity, self.surface, self.sampling_stride, self.equations
        if self.receivers:
            require_formats(self.case.output.seismograms.formats)
        self._require_positions()
        validation.require_shear_in_solids(self)
        validation.require_fields_of_equations(self)
        validation.require_dissipation(self)
        self._require_records()

    def _require_positions(self) -> None:
        require_sources_inside(self.source_entries, self.extent)
        validation.require_above_the_bottom(self)

    def _require_records(self) -> None:
        """Check that `[[output.record]]` selects positions in the mesh and samples of the run."""
        self.recording.require_samples(self.case.output.record, self.steps)

    @property
    def recording(self) -> Recording:
        """The recordable fields of the whole mesh."""
        return recording(self, ElementDomain.outline(self.outline))

    # --- mesh -------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return str(self.case.run.dtype)

    def elements(self, ranks: int, rank: int) -> RankElements:
        """The elements of a rank."""
        return RankElements(self.connectivity, self.starts(ranks), rank)

    def starts(self, ranks: int) -> Numbers:
        """The first element of each rank, and the number of elements, (ranks + 1,).

        All ranks have about the same work, see `element_costs`.

        Raises:
            InputError: fewer elements than ranks.
        """
        if ranks > self.count:
            raise InputError(
                f"{counted(self.count, 'element')} cannot be divided among {ranks} ranks; use at "
                "most one rank per element"
            )
        return partition_curve(self._costs, ranks)

    @cached_property
    def _costs(self) -> Floats:
        return element_costs(self)

    def cells(self, leaves: Numbers) -> Numbers:
        """Indices (x, y, z) of the grid cells that contain elements, (n, 3)."""
        return self.forest.anchors(leaves) >> self.forest.max_level

    @property
    def equations(self) -> Equations:
        """The equations that are solved."""
        chosen = self.case.method.equations
        if chosen == "auto":
            return ELASTIC if self.statistics.vs_max else ACOUSTIC
        if chosen == "acoustic" and self.statistics.vs_max:
            raise InputError(
                'method.equations = "acoustic", but parts of the medium are solid; set vs = 0 '
                'everywhere, or use "elastic"'
            )
        return ACOUSTIC if chosen == "acoustic" else ELASTIC

    @property
    def trace(self) -> TraceFormat:
        """Format of the trace that a face provides to its neighbour."""
        nodes = (self.degree + 1) ** 2
        return TraceFormat(self.equations.trace, nodes, self.dtype, self.case.run.narrow)

    # --- time -------------------------------------------------------------------------------------

    @cached_property
    def step_limit(self) -> StepLimit:
        """The longest time step and what limits it."""
        return StepLimit.of(self)

    @property
    def stability_limit(self) -> float:
        """Longest time step, s."""
        return self.step_limit.seconds

    @property
    def sampling_interval(self) -> float | None:
        """Interval between samples of seismograms, s; None for every step, or if there are none."""
        return self.case.output.seismograms.interval if self.receivers else None

    @cached_property
    def dt(self) -> float:
        """Time step, s: `time.step`, or the longest stable one that divides the sampling interval.

        Raises:
            InputError: the step of the case is unstable or far too short, or the sampling interval
                is too short.
        """
        return self.time_step.dt

    @cached_property
    def time_step(self) -> TimeStep:
        """The time step, and the sampling of seismograms; see `dt`."""
        limit = self.step_limit
        reason = (
            f'because of {limit.cause}; shorten it or use "auto"; for longer steps, {limit.cure}'
        )
        stable = StableSteps(limit.seconds, reason)
        return TimeStep.choose(self.case.time, stable, self.sampling_interval)

    @cached_property
    def time_axis(self) -> TimeAxis:
        """The times of all steps."""
        duration = self.case.time.duration
        return TimeAxis.of(self.sources, self.dt, self.sampling_stride, duration)

    @property
    def steps(self) -> int:
        """Number of time steps of the run."""
        return self.time_axis.steps

    @cached_property
    def sampling_stride(self) -> int:
        """Number of steps between samples of seismograms.

        Raises:
            InputError: the interval is not a whole number of steps.
        """
        return self.time_step.stride

    # --- sources and receivers --------------------------------------------------------------------

    @cached_property
    def source_entries(self) -> list[SourceEntry]:
        """The `[[source]]` entries of the case as point sources."""
        step, duration = self.dt / SAMPLES_PER_STEP, self.case.time.duration
        medium = {"rigidity": self.rigidity, "lame": self.lame, "density": self.density}
        context = SourceContext(self.geography, step, duration, self.grid.spacing, **medium)
        return build_sources(self.case.source, context)

    @cached_property
    def survey(self) -> Survey:
        """The sources and receivers."""
        return Survey(self.source_entries, self.receivers)

    @cached_property
    def sources(self) -> list[PointSource]:
        """All point sources."""
        return [point for entry in self.source_entries for point in entry.points]

    @cached_property
    def source_summary(self) -> SourceSummary:
        """Net moment tensor, magnitude and centroid of all sources."""
        return SourceSummary.from_entries(self.source_entries)

    @cached_property
    def source_frequency(self) -> float:
        """Frequency below which every source has 99 % of its energy, Hz."""
        return highest_frequency(self.sources)

    @cached_property
    def receivers(self) -> list[Receiver]:
        """All receivers, including those of a station file."""
        return place_receivers(self.case)

    # --- cost of a run ----------------------------------------------------------------------------

    @property
    def resolved_frequencies(self) -> Floats:
        """Frequency at which the slowest wave in each element spans POINTS_PER_WAVELENGTH, Hz."""
        return self.statistics.slowest / self.longest * self.degree / POINTS_PER_WAVELENGTH

    @cached_property
    def resolved_frequency(self) -> float:
        """Frequency up to which all elements resolve waves, Hz."""
        return float(self.resolved_frequencies.min())

    @property
    def smallest(self) -> float:
        """The shortest edge of an element, m."""
        return float(self.edges.min())

    @property
    def unknowns(self) -> int:
        """Number of values of all fields at all nodes."""
        return self.count * self.unknowns_per_element

    @property
    def unknowns_per_element(self) -> int:
        return len(self.equations.fields) * (self.degree + 1) ** AXES

    @property
    def tables(self) -> float:
        """Values per node of tables that vary among nodes, see `nodal_tables`."""
        return nodal_tables(self) / (self.degree + 1) ** AXES

    @cached_property
    def memory_variables(self) -> float:
        """Memory variables of attenuation and layers per node, averaged over all elements."""
        of_layers = self.equations.stretched * self.layer_sets / self.count
        of_strain = self.equations.strains * len(self.relaxation.tau) if self.relaxation else 0
        return of_layers + of_strain

    def grid_quantities(self) -> Iterator[Quantity]:
        """Elements and size of the region, for `groundswell check`."""
        return grid_quantities(self)

    def mesh_warnings(self) -> list[str]:
        """What the file of the mesh holds that is ignored."""
        return []

    def damped_positions(self) -> Iterator[str]:
        """A warning of sources and receivers in sponges of a mesh."""
        yield from ()


def prepare_bricks(case: Any, comm: Communicator | None = None) -> Setup:
    """Read and check the data of a case on a grid; ranks share the reading of the medium.

    Raises:
        InputError: the data do not fit the case, or the case cannot run.
    """
    grid, geography = build_grid(case), case.grid.frame
    require_memory(case, grid)
    setup = Setup(case, grid, geography, build_media(case, grid), comm)
    setup.validate()
    return setup
