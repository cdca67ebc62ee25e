"""The ultrasound solver on one rank: the k-space scheme on the rank's window of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.case.quantities import Quantity
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.tuning import Choice
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recording_ghosts import ghosts_read
from groundswell.simulation.exchanging import ExplicitSolver, part_of
from groundswell.simulation.finite_check import NonFiniteSearch, positions_in
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.film_plane import records_of
from groundswell.solvers.ultrasound.outputs import Outputs
from groundswell.solvers.ultrasound.overlaps import ExchangeOverlaps
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.wave_setup import WaveSetup
from groundswell.solvers.ultrasound.window import Window


class Ultrasound(ExplicitSolver):
    """The ultrasound solver on one rank; `step` advances it by `setup.dt`.

    >>> import groundswell as gs
    >>> with gs.Simulation("ultrasound.toml") as simulation:
    ...     steps = simulation.advance(3)
    ...     type(simulation.solver).__name__, simulation.fields["p"].shape  # z, y, x
    ('Ultrasound', (1, 140, 180))

    Args:
        comm: the ranks among which the grid is divided.

    Attributes:
        window: the points that this rank transforms.
        propagation: the scheme on these points.
    """

    def __init__(
        self, setup: WaveSetup, backend: Backend, comm: Communicator | None = None
    ) -> None:
        self.setup, self.backend, self.comm = setup, backend, comm or SerialCommunicator()
        self.decomposition = setup.cut(self.comm.size)
        self.part = part_of(setup.grid, self.decomposition, self.comm.rank)
        self.window = setup.window(self.part, self.decomposition.processes[::-1])
        self.propagation = Propagation(
            backend,
            setup.operators(self.window),
            replace(setup.medium_in(self.window), in_classes=setup.in_classes),
            setup.dtype,
            sources_of(setup.sources, self.window),
            fused=setup.supports_fused(self.decomposition, backend.shared_bytes_per_block),
        )
        self._own = {name: array[self.window.own] for name, array in self._arrays.items()}
        self.outputs = self._make_outputs()
        positions = positions_in(self.part, origin=setup.origin)
        self.finite_check = NonFiniteSearch(
            backend, {"p": self._own["p"]}, self.time, positions, setup.implausible_pressure
        )
        self.set_exchange(self.first_choice())
        self._start()

    @property
    def _arrays(self) -> dict[str, DeviceArray]:
        """Pressure and velocities of the window, by name."""
        velocities = zip(AXES, self.propagation.u, strict=False)
        return {"p": self.propagation.p} | {f"u{axis}": u for axis, u in velocities}

    def _start(self) -> None:
        if self.setup.starts_with_pressure:
            self.propagation.start(self.setup.initial_in(self.window))
        else:
            self.propagation.start_at_rest()

    def _make_outputs(self) -> Any:
        """The outputs, which record the region."""
        region = {name: array[self.part.region_slices] for name, array in self._own.items()}
        return Outputs(self.setup, self.part, self.window.own, region, self.propagation, self.comm)

    # --- the step ---------------------------------------------------------------------------------

    def set_exchange(self, choice: Choice) -> None:
        """Set how overlaps are exchanged; collective."""
        self.close()
        self.choice = choice
        self.exchanges: Sequence[HaloExchange] = ()
        self._recorded: HaloExchange | None = None
        if self.comm.size > 1:
            overlap, hidden = self.window.overlap, choice.overlap
            fill = ExchangeOverlaps(overlap, self._exchange, hidden=hidden)
            self.propagation.set_exchange(fill)
        self.outputs.fill_overlaps = self._exchange_recorded()
        self._step = in_order(self._compose())

    def _compose(self) -> list[Launch]:
        """The launches of a step; it records the state before it."""
        records = self.backend.concurrently(*([launch] for launch in self.outputs.launches))
        return [*self.outputs.fill_overlaps, *records, *self.timed_step()]

    def timed_step(self) -> list[Launch]:
        """The launches of a step, without recorders."""
        return self.propagation.launches

    def _exchange_recorded(self) -> list[Launch]:
        """Launches that fill the overlaps that recorders read to interpolate."""
        setup, arrays = self.setup, self._arrays
        whole = setup.recording(setup.whole)
        found = ghosts_read(whole, records_of(setup.case.output, setup), self.decomposition)
        if not found:
            return []
        self._recorded = self._exchange(list(found.values()), [arrays[name] for name in found])
        return self._recorded.launches

    def _exchange(self, ghosts: Sequence[Ghosts], arrays: Sequence[DeviceArray]) -> HaloExchange:
        width, narrow = self.window.overlap[::-1], self.setup.case.run.narrow
        fields = [
            GhostField(array, width, _within(needed, width), narrow)
            for array, needed in zip(arrays, ghosts, strict=True)
        ]
        exchange = self.make_exchange(fields)
        self.exchanges = (*self.exchanges, exchange)
        return exchange

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends per step; the first exchange is that of the pressure alone."""
        if not self.exchanges:
            return 0
        recorded = self._recorded.bytes if self._recorded else 0
        return self.setup.exchanged_fields * self.exchanges[0].bytes + recorded

    def prepare(self) -> None:
        """Enqueue the computation of what a step needs from the current pressure."""
        self.propagation.prepare()

    def restart(self) -> None:
        """Return to the initial pressure, and reset the recorders."""
        self.outputs.restart()
        self._start()

    # --- the solver interface ---------------------------------------------------------------------

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """Pressure and velocities over the region, (nz, ny, nx)."""
        return {name: DistributedArray.of_region(own, self.part) for name, own in self._own.items()}

    def state(self) -> dict[str, DistributedArray]:
        """Pressure, velocities and densities of this rank's block, the clock, and the recorders."""
        densities = zip(AXES, self.propagation.rho, strict=False)
        arrays = self._arrays | {f"rho{axis}": rho for axis, rho in densities}
        block = self.decomposition.block(self.comm.rank)
        fields = {
            name: DistributedArray.of_boxes(
                array[self.window.own],
                self.setup.grid.shape,
                [
                    [(slice(0, n), slice(first, first + n))]
                    for first, n in zip(block.start, block.shape, strict=True)
                ],
            )
            for name, array in arrays.items()
        }
        clock = DistributedArray.replicated(self.propagation.clock, self.comm)
        return fields | {"clock": clock} | self.outputs.state()

    @property
    def findings(self) -> Sequence[Quantity]:
        """Numbers of the beam, after the maps have been written."""
        return getattr(self.outputs, "findings", ())

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings if ranks cannot give the accuracy of the case, or if a wave is not steady."""
        accuracy = self.setup.overlaps.warnings(self.decomposition.processes[::-1])
        return [*accuracy, *getattr(self.outputs, "warnings", ())]

    def describe_ranks(self) -> dict[str, object]:
        """The decomposition of the grid among ranks, and the transport that they use."""
        return {
            "count": self.comm.size,
            "processes": self.decomposition.processes[::-1],
            "transport": self.exchanges[0].path if self.exchanges else "none",
            "overlap": self.overlaps,
            "overlap_points": self.window.overlap,
            "overlap_error": self.setup.overlaps.estimate(self.decomposition.processes[::-1]),
            "aggregate": self.choice.aggregate,
            "bytes_sent_per_step": self.bytes_sent,
        }


def _within(ghosts: Ghosts, width: tuple[int, ...]) -> Ghosts:
    """Ghosts limited to the overlap of each axis, which is 0 along axes that are not divided."""
    low, high = (tuple(map(min, side, width)) for side in (ghosts.low, ghosts.high))
    return replace(ghosts, low=low, high=high)


def sources_of(sources: Sequence[PointSource], window: Window) -> list[PointSource]:
    """The parts of sources at the points of a window."""
    return [part for source in sources if len((part := _source_of(source, window)).points)]


def _source_of(source: PointSource, window: Window) -> PointSource:
    entries, places = window.locate(source.points)
    weights, signals = source.matrix[entries], source.signals.reshape(len(source.signals), -1)
    used = np.unique(weights.indices)
    return replace(source, points=places, signals=signals[:, used], weights=weights[:, used])
