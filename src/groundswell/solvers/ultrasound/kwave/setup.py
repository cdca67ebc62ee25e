"""The set-up of an input file of k-Wave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.cartesian import Grid, Part
from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput, read_input
from groundswell.solvers.ultrasound.kwave.output_file import layout_bytes
from groundswell.solvers.ultrasound.kwave.sensors import Sampling, plan_samplings
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.operators import AbsorbingLayers
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.stability import stable_step
from groundswell.solvers.ultrasound.wave_setup import WaveSetup
from groundswell.solvers.ultrasound.window import Window


@dataclass(frozen=True)
class KWaveSetup(WaveSetup):
    """An input file with its sources; ranks read their parts of the medium later.

    Args:
        data: the content of the file.
        limit: a step up to which all steps are stable, s.
    """

    case: KWaveCase
    data: KWaveInput
    limit: float = inf

    step_name, dispersion_cure = "dt", ""
    size_cure = "the grid or its absorbing layers"

    def validate(self) -> None:
        """Raise InputError if there is no step at which samples begin."""
        start, steps = self.case.output.start, self.data.steps
        if start > steps:
            raise InputError(f"-s {start}: samples must start at one of the steps 1 to {steps}")
        self.require_few_materials()

    @property
    def axes(self) -> int:
        """Number of axes: 2 or 3."""
        return self.data.axes

    @property
    def grid(self) -> Grid:
        """The grid, which is a region without layers around it: they are inside."""
        return self.data.grid

    @property
    def layers(self) -> AbsorbingLayers:
        """The absorbing layers."""
        assert self.data.operators.layers is not None
        return self.data.operators.layers

    # --- medium, sources and time step ------------------------------------------------------------

    @property
    def materials(self) -> AcousticMedium:
        """Some points of the medium, (points,), among them all extremes; see `Representatives`."""
        return self.data.materials

    @property
    def given_densities(self) -> int:
        """Number of axes for which the input has the densities at velocity points."""
        return self.axes

    @property
    def material_count(self) -> int | None:
        """Number of different materials; None if there are more than a table of classes has."""
        return self.data.material_count

    def medium_in(self, window: Window) -> AcousticMedium:
        """The medium at the points of a window, with the equations of the whole medium."""
        return self.data.medium.within(window, lossy=bool(np.any(self.materials.absorption)))

    @property
    def reference_speed(self) -> float:
        """Sound speed of the k-space correction, m/s."""
        return self.data.operators.reference_speed

    @property
    def stability_limit(self) -> float:
        """A step up to which all steps are stable, s; see `stable_step`."""
        return self.limit

    def find_limit(self) -> float:
        """Find the limit; this may read the medium at all points."""
        return stable_step(self.materials, self.grid, self.reference_speed, self.dt, self.medium_in)

    @property
    def dt(self) -> float:
        """The time step, s."""
        return self.data.operators.dt

    @property
    def first_step(self) -> int:
        """Steps that count as made at the beginning: an initial pressure is the end of step 1."""
        return int(self.starts_with_pressure)

    @property
    def steps(self) -> int:
        """Number of steps to make."""
        return self.data.steps - self.first_step

    @property
    def sources(self) -> Sequence[PointSource]:
        """The time-dependent sources at all points."""
        return self.data.sources

    @property
    def starts_with_pressure(self) -> bool:
        """Whether there is an initial pressure."""
        return self.data.initial_pressure is not None

    def initial_in(self, window: Window) -> Values:
        """The initial pressure at the points of a window, (nz, ny, nx), Pa; 0 without one."""
        initial = self.data.initial_pressure
        return 0.0 if initial is None else initial.within(window)

    @property
    def implausible_pressure(self) -> float:
        """Infinite: simulations may be unstable, as in k-Wave."""
        return inf

    # --- outputs ----------------------------------------------------------------------------------

    @cached_property
    def samplings(self) -> list[Sampling]:
        """What is sampled."""
        outputs = frozenset(self.case.output.datasets)
        return list(plan_samplings(outputs, self.data.mask, self.grid.shape))

    @property
    def samples(self) -> int:
        """Number of samples of the whole simulation."""
        return self.data.steps - self.case.output.start + 1

    def output_memory(self, part: Part) -> int:
        """Device memory of what a part of the grid records, bytes."""
        sampled = sum(each.device_bytes(part) for each in self.samplings)
        centred = "u_non_staggered_raw" in self.case.output.datasets
        fields = centred * (self.axes + 1) * int(np.prod(part.cells, dtype=np.int64))
        return sampled + self.itemsize * fields

    @property
    def output_bytes(self) -> int:
        """Size of the output file, bytes."""
        return sum(layout_bytes(each.layout(self.samples)) for each in self.samplings)


def prepare(case: KWaveCase, comm: Communicator | None = None) -> KWaveSetup:
    """Read an input file; all ranks must call it.

    Raises:
        InputError: the file cannot be used, or there is no step at which samples begin.
    """
    job = comm or SerialCommunicator()
    setup = KWaveSetup(case, read_input(case.file, case.steps, job))
    setup.validate()
    limit = job.collective_try(lambda: setup.find_limit() if job.first else inf)
    return replace(setup, limit=job.bcast(limit))
