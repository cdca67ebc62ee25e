"""The two kinds of cases: tables in TOML, and input files of k-Wave."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.ultrasound import setup as tables
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.kwave import setup as kwave
from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.kwave.setup import KWaveSetup
from groundswell.solvers.ultrasound.kwave.solver import KWaveSolver
from groundswell.solvers.ultrasound.solver import Ultrasound
from groundswell.solvers.ultrasound.wave_setup import WaveSetup


def prepare(case: UltrasoundCase | KWaveCase, comm: Communicator | None = None) -> WaveSetup:
    """Read the medium and the sources of a case, and check them; all ranks must call it.

    Raises:
        InputError: the case or its data cannot be used.
    """
    if isinstance(case, KWaveCase):
        return kwave.prepare(case, comm)
    return tables.prepare(case, comm)


def solver_of(setup: WaveSetup, backend: Backend, comm: Communicator | None = None) -> Ultrasound:
    """The solver of a set-up on one rank."""
    kind = KWaveSolver if isinstance(setup, KWaveSetup) else Ultrasound
    return kind(setup, backend, comm)
