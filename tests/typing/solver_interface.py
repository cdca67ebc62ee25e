"""Assignments that mypy accepts only while every solver keeps to the protocols it implements."""

from __future__ import annotations

from groundswell.simulation.solver import (
    Converging,
    DirectSolver,
    EnergyCheck,
    FiniteCheck,
    Outputs,
    Preparing,
    Setup,
    TimeDependent,
    TimeStepper,
    Tunable,
)
from groundswell.solvers.cavity.outputs import Outputs as CavityOutputs
from groundswell.solvers.cavity.setup import Setup as CavitySetup
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.dgwave.outputs import Outputs as DgWaveOutputs
from groundswell.solvers.dgwave.setup import Setup as DgWaveSetup
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.earthquake.outputs import Outputs as EarthquakeOutputs
from groundswell.solvers.earthquake.setup import Setup as EarthquakeSetup
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.poisson.outputs import Outputs as PoissonOutputs
from groundswell.solvers.poisson.setup import Setup as PoissonSetup
from groundswell.solvers.poisson.solver import Poisson
from groundswell.solvers.ultrasound.kwave.outputs import KWaveOutputs
from groundswell.solvers.ultrasound.kwave.setup import KWaveSetup
from groundswell.solvers.ultrasound.kwave.solver import KWaveSolver
from groundswell.solvers.ultrasound.outputs import Outputs as UltrasoundOutputs
from groundswell.solvers.ultrasound.setup import Setup as UltrasoundSetup
from groundswell.solvers.ultrasound.solver import Ultrasound
from groundswell_acoustics.setup import Setup as AcousticsSetup
from groundswell_acoustics.solver import Acoustics

setups: list[type[Setup]] = [
    AcousticsSetup,
    CavitySetup,
    DgWaveSetup,
    EarthquakeSetup,
    PoissonSetup,
    KWaveSetup,
    UltrasoundSetup,
]
outputs: list[type[Outputs]] = [
    CavityOutputs,
    DgWaveOutputs,
    EarthquakeOutputs,
    PoissonOutputs,
    KWaveOutputs,
    UltrasoundOutputs,
]
steppers: list[type[TimeStepper]] = [Acoustics, Cavity, DgWave, Earthquake, KWaveSolver, Ultrasound]
timed: list[type[TimeDependent]] = [Acoustics, DgWave, Earthquake, Ultrasound]
direct: list[type[DirectSolver]] = [Poisson]
converging: list[type[Converging]] = [Cavity]
checked: list[type[FiniteCheck]] = [DgWave, Earthquake, Ultrasound]
watched: list[type[EnergyCheck]] = [DgWave, Earthquake]
preparing: list[type[Preparing]] = [DgWave, Ultrasound]
tunable: list[type[Tunable]] = [Acoustics, Cavity, DgWave, Earthquake, Poisson, Ultrasound]
