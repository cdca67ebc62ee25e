"""Assignments that mypy accepts only while every solver keeps to the protocols it implements."""

from __future__ import annotations

from groundswell.simulation.blocks import BlockSolver
from groundswell.simulation.solver import (
    Converging,
    DirectSolver,
    FiniteCheck,
    Outputs,
    Setup,
    TimeDependent,
    TimeStepper,
    Tunable,
)
from groundswell.solvers.cavity.outputs import Outputs as CavityOutputs
from groundswell.solvers.cavity.setup import Setup as CavitySetup
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.earthquake.outputs import Outputs as EarthquakeOutputs
from groundswell.solvers.earthquake.setup import Setup as EarthquakeSetup
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.poisson.outputs import Outputs as PoissonOutputs
from groundswell.solvers.poisson.setup import Setup as PoissonSetup
from groundswell.solvers.poisson.solver import Poisson

setups: list[type[Setup]] = [CavitySetup, EarthquakeSetup, PoissonSetup]
outputs: list[type[Outputs]] = [CavityOutputs, EarthquakeOutputs, PoissonOutputs]
steppers: list[type[TimeStepper]] = [BlockSolver, Cavity, Earthquake]
timed: list[type[TimeDependent]] = [BlockSolver, Earthquake]
direct: list[type[DirectSolver]] = [Poisson]
converging: list[type[Converging]] = [Cavity]
checked: list[type[FiniteCheck]] = [Earthquake]
tunable: list[type[Tunable]] = [BlockSolver, Cavity, Earthquake, Poisson]
