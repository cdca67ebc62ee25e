"""The parts of a prepared case: `Setup`, and of those the `WaveDomain`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from groundswell.grids.geography import Geography
from groundswell.meshes.hexahedra import AXES
from groundswell.outputs.recording import Recording, RecordingDomain
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.seismology.formats.seismograms import SeriesOptions
from groundswell.seismology.green.points import GreenSurvey
from groundswell.seismology.sources.event import date_attributes, event_attributes
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.survey import Survey
from groundswell.seismology.time_steps import TimeAxis, TimeStep, whole_steps
from groundswell.solvers.dgwave.boundaries.absorption import Absorption
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.equations import Equations
from groundswell.solvers.dgwave.faults.model import Faults
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.partition import Partition
from groundswell.solvers.dgwave.plasticity.model import YieldingRock
from groundswell.solvers.dgwave.recordable import RECORDABLE
from groundswell.solvers.dgwave.shared_traces import TraceFormat
from groundswell.solvers.dgwave.step_limit import StepLimit


@dataclass(frozen=True, eq=False)
class WaveDomain:
    """The elements of a run, what they contain and what absorbs waves at their boundaries.

    Args:
        context: what point sources depend on, for time functions with samples at a step (s).
    """

    geometry: Geometry
    materials: Materials
    absorption: Absorption
    context: Callable[[float], SourceContext]


@dataclass(frozen=True, eq=False)
class Setup:
    """The parts of a prepared case; see docs/design/dgwave.md.

    Args:
        case: the case.
        geography: the map between longitudes and latitudes and the grid, if the case has one.
        geometry: the elements of all ranks.
        materials: what they contain.
        absorption: what absorbs waves at the boundaries.
        equations: the equations that are solved.
        step_limit: the longest stable time step and what limits it.
        time_step: the time step, and the sampling of seismograms.
        survey: the sources and receivers.
        time_axis: the times of all steps.
        partition: the division of the elements among ranks.
        faults: the faults that break by themselves; None without.
        rock: rock that yields; None if it is linear.
        green: the force and the points at which strain is recorded, if it is.
    """

    has_fixed_steps: ClassVar[bool] = True

    case: DgWaveCase
    geography: Geography | None
    geometry: Geometry
    materials: Materials
    absorption: Absorption
    equations: Equations
    step_limit: StepLimit
    time_step: TimeStep
    survey: Survey
    time_axis: TimeAxis
    partition: Partition
    faults: Faults | None = None
    rock: YieldingRock | None = None
    green: GreenSurvey | None = None

    @property
    def steps(self) -> int:
        """Number of time steps of the run."""
        return self.time_axis.steps

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self.time_step.dt

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return str(self.case.run.dtype)

    @property
    def degree(self) -> int:
        """Degree of the elements."""
        return self.geometry.degree

    @property
    def face_nodes(self) -> int:
        """Number of nodes of a face."""
        return (self.degree + 1) ** 2

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that can be recorded."""
        return (*self.equations.fields, *([STRAIN] if self.rock else []))

    @property
    def unknowns(self) -> int:
        """Number of values of all fields at all nodes."""
        return self.geometry.count * self.unknowns_per_element

    @property
    def unknowns_per_element(self) -> int:
        """Number of values of all fields at the nodes of an element."""
        return len(self.equations.fields) * (self.degree + 1) ** AXES

    @property
    def trace(self) -> TraceFormat:
        """Format of the trace that a face provides to its neighbour."""
        nodes = (self.degree + 1) ** 2
        return TraceFormat(self.equations.trace, nodes, self.dtype, self.case.run.narrow)

    @property
    def strain_stride(self) -> int:
        """Number of steps between samples of strain."""
        section = self.case.output.strain_green_tensor
        return whole_steps(section.interval if section else None, self.dt)

    def series_options(self, every: int, resume: int | None) -> SeriesOptions:
        """Options of the file of a series with a sample every `every` steps."""
        attrs = event_attributes(self.case, self.geography, self.survey)
        start = self.time_axis.first_sample(every, every * self.dt)
        return SeriesOptions(start=start, attrs=attrs, resume=resume, dtype=self.dtype)

    def recording(self, domain: RecordingDomain) -> Recording:
        """The recordable fields on some elements."""
        fields = {name: RECORDABLE[name] for name in self.fields}
        attrs, axis = date_attributes(self.case, self.survey), self.time_axis
        return Recording(
            domain, fields, self.dtype, axis.dt, attrs=attrs, steps=axis.steps, start=axis.start
        )
