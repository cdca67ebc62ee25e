"""The solver of an input file of k-Wave on one rank."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.exchange.ghosts import Ghosts
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.kwave.outputs import KWaveOutputs
from groundswell.solvers.ultrasound.kwave.velocities import CentredVelocities
from groundswell.solvers.ultrasound.solver import Ultrasound

CENTRED = "u_non_staggered_raw"  # the output that needs velocities at pressure points


class KWaveSolver(Ultrasound):
    """The k-space scheme, which samples the state after each step, as k-Wave does."""

    def _make_outputs(self) -> KWaveOutputs:
        """The outputs, which sample all fields after a step."""
        wanted = CENTRED in self.setup.case.output.datasets
        self._centred = CentredVelocities(self.propagation, self.window) if wanted else None
        centred = zip(AXES, self._centred.arrays if self._centred else (), strict=False)
        own = {f"u{axis}_non_staggered": array[self.window.own] for axis, array in centred}
        fields = self._own | own
        return KWaveOutputs(self.setup, self.part, fields, self.propagation, self.comm)

    def _compose(self) -> list[Launch]:
        """The launches of a step and of its sample."""
        return [*self.timed_step(), *self._sampling]

    @property
    def _sampling(self) -> list[Launch]:
        """The launches that sample the current state."""
        return [*self.outputs.fill_overlaps, *self.outputs.launches]

    def _exchange_recorded(self) -> list[Launch]:
        """Launches that compute the velocities at pressure points, for which ranks exchange."""
        if self._centred is None:
            return []
        if self.comm.size == 1:
            return self._centred.launches
        width = self.window.overlap[::-1]
        ghosts = [Ghosts(width, width, corners=True)] * len(self.propagation.u)
        self._recorded = self._exchange(ghosts, self.propagation.u)
        return [*self._recorded.launches, *self._centred.launches]

    def _start(self) -> None:
        """Begin at rest or with the initial pressure, which counts as step 1.

        Sources do not act in step 1: their first sample is skipped.
        """
        super()._start()
        if self.setup.starts_with_pressure:
            self.set_clock(0)
            in_order(self._sampling)()

    def set_clock(self, steps: int) -> None:
        """Set the number of steps made, without the one that an initial pressure counts for."""
        done = np.array([self.setup.first_step + steps], np.int64)
        self.backend.assign(self.propagation.clock, done)

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        return float((self.setup.first_step + step) * self.setup.dt)

    # --- values that are not finite ---------------------------------------------------------------

    def enqueue_finite_check(self) -> None:
        """Enqueue a search for values that are not finite, unless the case is to go on."""
        if not self.setup.case.keep_going:
            super().enqueue_finite_check()

    @property
    def is_finite(self) -> bool:
        """Whether the pressure of all ranks is finite; all ranks must ask."""
        mine = bool(np.isfinite(self.backend.to_host(self._own["p"])).all())
        return all(self.comm.allgather(mine))
