"""The faults of a run on one rank, and the values that ranks exchange where blocks cut a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import StridedBox
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.messages import Message, Segment, TransferRequest
from groundswell.exchange.transfer import Transfer
from groundswell.simulation.exchanging import part_of
from groundswell.solvers.earthquake.fault_slip import RECORDED, FaultSlip, RankGrid
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.window import Box, FaultWindow

Windows = Sequence[FaultWindow | None]  # of each fault
# What a cell at an end of a block reads of points of the next one.
SHARED = ("rate", "slip", "state", "work", "released", "traction")
_NOTHING = (Transfer(), Transfer())


class RankFaults:
    """The faults of a run on one rank.

    Args:
        decomposition: of the grid.

    Attributes:
        slips: the jumps across each fault; None where the rank has no point of it.
        recorded: what is recorded of all faults, (RECORDED, points of all windows).
        starts: the first point of each window in it, and their number.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        faults: Sequence[Fault],
        decomposition: Decomposition,
        grid: RankGrid,
    ) -> None:
        self._backend, self._comm = backend, comm
        self._windows = _windows(faults, decomposition)
        self._transfers: Sequence[Transfer] = ()
        own = self._windows[comm.rank]
        counts = [window.points if window else 0 for window in own]
        self.starts = np.cumsum([0, *counts])
        self.recorded = backend.zeros((len(RECORDED), sum(counts)), "f8")
        parts = [self.recorded[:, start:end] for start, end in pairwise(self.starts)]
        self.slips = [
            FaultSlip(backend, fault, window, grid, part) if window else None
            for fault, window, part in zip(faults, own, parts, strict=True)
        ]

    def connect(self, transport: str) -> Sequence[Transfer]:
        """The exchanges of trial tractions and of SHARED, if a fault is cut; collective."""
        if any(window and any(window.margin) for window in chain(*self._windows)):
            self._transfers = [self._connect(names, transport) for names in (("trial",), SHARED)]
        return self._transfers

    def _connect(self, names: Sequence[str], transport: str) -> Transfer:
        """The exchange of the margins of arrays of all faults."""
        backend, rank = self._backend, self._comm.rank
        arrays = [[slip.arrays[name] for name in names] if slip else [] for slip in self.slips]
        messages = [*_messages(backend, rank, self._windows, arrays)]
        return connect(TransferRequest(backend, self._comm, messages), transport)

    def advance(self, fields: Mapping[str, DeviceArray], clock: DeviceArray) -> list[Launch]:
        """The launches that advance slip by a step, before the velocities.

        Args:
            fields: the stresses of the grid.
        """

        def launch(*kernels: str) -> Iterator[Launch]:
            for kernel in kernels:
                for slip in self._own:
                    yield from slip.launch(kernel, fields, clock)

        trials, shared = (transfer.launches for transfer in self._transfers or _NOTHING)
        after = launch("stretch_fault", "record_fault")
        return [*launch("load_fault"), *trials, *launch("slide"), *shared, *after]

    def release(self, fields: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """See `FaultSlip.release`."""
        return [*chain(*(slip.release(fields, box) for slip in self._own))]

    def release_surface(self, fields: Mapping[str, DeviceArray]) -> list[Launch]:
        """See `FaultSlip.release_surface`."""
        return [*chain(*(slip.release_surface(fields) for slip in self._own))]

    def released(self, after: Event | None = None) -> float:
        """Energy that waves and deformation have received, as a sum of squared velocities of cells.

        Args:
            after: see `Backend.to_host`.
        """
        return sum(slip.released(after) for slip in self._own)

    @property
    def _own(self) -> list[FaultSlip]:
        return [slip for slip in self.slips if slip is not None]


def _windows(faults: Sequence[Fault], decomposition: Decomposition) -> list[Windows]:
    """The points of each fault on each rank; None where it has none."""
    if not faults:
        return [()] * decomposition.ranks
    grid = faults[0].plane.grid
    parts = [part_of(grid, decomposition, rank) for rank in range(decomposition.ranks)]
    return [[FaultWindow.of(fault.plane, part) for fault in faults] for part in parts]


def _messages(
    backend: Backend, rank: int, windows: Sequence[Windows], arrays: Sequence[Sequence[DeviceArray]]
) -> Iterator[Message]:
    """Yield the messages with the margins of arrays of each fault, one for each peer."""
    for peer, theirs in enumerate(windows):
        sends: list[Segment] = []
        receives: list[Segment] = []
        for fields, own, other in zip(arrays, windows[rank], theirs, strict=True):
            if peer != rank and own and other:
                sent, received = ([*a.of_rank(b)] for a, b in ((other, own), (own, other)))
                sends += [_segment(backend, field, box) for field in fields for _, box in sent]
                receives += [_segment(backend, f, box) for f in fields for box, _ in received]
        if sends or receives:
            yield Message.of_segments(peer, 0, sends, receives)


def _segment(backend: Backend, array: DeviceArray, box: Box) -> Segment:
    """A box of an array (leading, rows, columns)."""
    first = (0, *(part.start for part in box))
    shape = (array.shape[0], *(part.stop - part.start for part in box))
    place = StridedBox.in_array(backend, array, (0, 0, 0), first)
    return Segment(place, shape, "float64", "float64")
