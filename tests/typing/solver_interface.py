"""Assignments that mypy accepts only while every solver keeps to the protocols it implements."""

from __future__ import annotations

from groundswell.simulation import blocks
from groundswell.simulation.findings import Finding
from groundswell.simulation.solver import (
    CheckModule,
    Converging,
    CostModel,
    DirectSolver,
    EnergyCheck,
    EnergySupply,
    FiniteCheck,
    Outputs,
    Prepare,
    Preparing,
    Setup,
    TimeDependent,
    TimeStepper,
    Tunable,
)
from groundswell.simulation.timed_steps import Composed, TimedSolve
from groundswell.solvers.cavity import check as cavity_check
from groundswell.solvers.cavity import cost as cavity_cost
from groundswell.solvers.cavity.outputs import Outputs as CavityOutputs
from groundswell.solvers.cavity.setup import Setup as CavitySetup
from groundswell.solvers.cavity.setup import prepare as prepare_cavity
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.dgwave import check as dgwave_check
from groundswell.solvers.dgwave import cost as dgwave_cost
from groundswell.solvers.dgwave.outputs import Outputs as DgWaveOutputs
from groundswell.solvers.dgwave.setup import Setup as DgWaveSetup
from groundswell.solvers.dgwave.setup import prepare as prepare_dgwave
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.earthquake import check as earthquake_check
from groundswell.solvers.earthquake import cost as earthquake_cost
from groundswell.solvers.earthquake.outputs import Outputs as EarthquakeOutputs
from groundswell.solvers.earthquake.setup import Setup as EarthquakeSetup
from groundswell.solvers.earthquake.setup import prepare as prepare_earthquake
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.poisson import check as poisson_check
from groundswell.solvers.poisson import cost as poisson_cost
from groundswell.solvers.poisson.outputs import Outputs as PoissonOutputs
from groundswell.solvers.poisson.setup import Setup as PoissonSetup
from groundswell.solvers.poisson.setup import prepare as prepare_poisson
from groundswell.solvers.poisson.solver import Poisson
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson
from groundswell.solvers.ultrasound import check as ultrasound_check
from groundswell.solvers.ultrasound import cost as ultrasound_cost
from groundswell.solvers.ultrasound.kwave.outputs import KWaveOutputs
from groundswell.solvers.ultrasound.kwave.setup import KWaveSetup
from groundswell.solvers.ultrasound.kwave.solver import KWaveSolver
from groundswell.solvers.ultrasound.outputs import Outputs as UltrasoundOutputs
from groundswell.solvers.ultrasound.setup import Setup as UltrasoundSetup
from groundswell.solvers.ultrasound.setup import prepare as prepare_ultrasound
from groundswell.solvers.ultrasound.solver import Ultrasound
from groundswell_acoustics import check as acoustics_check
from groundswell_acoustics.setup import Setup as AcousticsSetup
from groundswell_acoustics.setup import prepare as prepare_acoustics
from groundswell_acoustics.solver import Acoustics

checks: list[CheckModule] = [
    acoustics_check,
    cavity_check,
    dgwave_check,
    earthquake_check,
    poisson_check,
    ultrasound_check,
]
costs: list[CostModel] = [
    blocks,
    cavity_cost,
    dgwave_cost,
    earthquake_cost,
    poisson_cost,
    ultrasound_cost,
]
preparations: list[Prepare] = [
    prepare_acoustics,
    prepare_cavity,
    prepare_dgwave,
    prepare_earthquake,
    prepare_poisson,
    prepare_ultrasound,
]
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
steppers: list[type[TimeStepper]] = [
    Acoustics,
    Cavity,
    UnsteadyCavity,
    UnsteadyPoisson,
    DgWave,
    Earthquake,
    KWaveSolver,
    Ultrasound,
]
timed: list[type[TimeDependent]] = [
    Acoustics,
    UnsteadyCavity,
    DgWave,
    Earthquake,
    UnsteadyPoisson,
    Ultrasound,
]
direct: list[type[DirectSolver]] = [Poisson]
composed: list[type[Composed]] = [Acoustics, Cavity, DgWave, Earthquake, KWaveSolver, Ultrasound]
solved: list[type[TimedSolve]] = [Poisson]
converging: list[type[Converging]] = [Cavity]
finding: list[type[Finding]] = [Cavity, UnsteadyCavity, DgWave, Ultrasound]
checked: list[type[FiniteCheck]] = [DgWave, Earthquake, Ultrasound]
watched: list[type[EnergyCheck]] = [DgWave, Earthquake]
supplied: list[type[EnergySupply]] = [DgWave, Earthquake]
preparing: list[type[Preparing]] = [DgWave, UnsteadyCavity, UnsteadyPoisson, Ultrasound]
tunable: list[type[Tunable]] = [
    Acoustics,
    Cavity,
    UnsteadyCavity,
    UnsteadyPoisson,
    DgWave,
    Earthquake,
    Poisson,
    Ultrasound,
]
