"""The versions of an exchange that Xue & Roy (2020) compare, in terms of Groundswell's options.

"Multi-GPU Performance Optimization of a CFD Code using OpenACC on Different Platforms", section
4.5: a code ported from CPUs to GPUs, and its optimisation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import Copy
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.transports.base import Job, Transfer
from groundswell.exchange.transports.buffers import Buffers
from groundswell.exchange.transports.mpi import MpiTransfer
from groundswell.exchange.transports.nccl import NcclTransfer

AXES = (0, 1, 2)  # k, j, i of the paper
FAST = (2,)


@dataclass(frozen=True)
class Version:
    """One version.

    Args:
        name: its name in the paper.
        alike: whether all fields send the largest number of layers that any field needs.
        packed: axes whose faces one kernel packs, all fields in one message. Faces of other axes
            are copied by themselves, a field at a time, with strided copies of the library and a
            message each; with "mpi" these copies go straight to the host and back.
    """

    name: str
    alike: bool
    packed: tuple[int, ...]


VERSIONS = {
    "baseline": Version("Baseline", True, ()),  # no buffers, one stencil for all
    "v1": Version("V1", True, FAST),  # buffers where memory is least contiguous
    "v2": Version("V2", False, FAST),  # and as many layers as a field's own stencil reads
    "v3": Version("V3", False, AXES),  # and buffers on all axes
}


class VersionExchange:
    """The exchange of one version, in place of an `Exchange`; all sends come first.

    Transports that store directly into the neighbour's memory have no buffers to pack. On these,
    versions differ only in the layers and the number of messages.

    Args:
        fields: fields that need no corners, which no version exchanges.

    Raises:
        InputError, BackendError: see `Exchange`.
    """

    def __init__(
        self,
        version: Version,
        backend: Backend,
        comm: Communicator,
        cut: Decomposition,
        fields: Sequence[GhostField],
        *,
        transport: str,
        **_: object,
    ) -> None:
        used = [axis for axis in AXES if cut.processes[axis] > 1 or cut.periodic[axis]] or [0]
        packed = [axis for axis in used if axis in version.packed]
        copied = [axis for axis in used if axis not in version.packed]
        make = partial(Exchange, backend, comm, cut)
        self._parts: list[Exchange] = []
        if packed:
            self._parts.append(make(_along(packed, fields, version), transport=transport))
        if copied:
            by_copies = COPYING.get(transport, transport)  # unless it has no buffers
            there = _along(copied, fields, version)
            self._parts.append(make(there, transport=by_copies, aggregate=False))
        self.path = self._parts[0].path
        self.in_graph = all(part.in_graph for part in self._parts)
        self.bytes = sum(part.bytes for part in self._parts)

    @property
    def launches(self) -> list[Launch]:
        """The launches of all sends, then of all receives."""
        if len(self._parts) == 1:
            return self._parts[0].launches
        sends = [launch for part in self._parts for launch in part.start]
        return sends + [launch for part in self._parts for launch in part.finish]

    def overlap_with(
        self, *, boundary: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """The work, then the exchange: none of the versions overlaps them."""
        return [*boundary, *interior, *self.launches]

    def check(self, after: Event | None = None) -> None:
        """Check that no wait timed out; raises RunFailed."""
        for part in self._parts:
            part.check(after)

    def close(self) -> None:
        """Release memory of other ranks; all ranks must call it before MPI ends."""
        for part in self._parts:
            part.close()


def _along(axes: Sequence[int], fields: Sequence[GhostField], version: Version) -> list[GhostField]:
    """The fields with ghosts on these axes only."""
    found = []
    for field in fields:
        wanted = fields if version.alike else [field]
        low, high = (
            tuple(
                max(getattr(f.ghosts, side)[axis] for f in wanted) if axis in axes else 0
                for axis in AXES
            )
            for side in ("low", "high")
        )
        found.append(replace(field, ghosts=Ghosts(low, high)))
    return found


# --- buffers that strided copies fill -------------------------------------------------------------


def _through_host(job: Job) -> Transfer:
    """Copies between fields on a GPU and pinned host memory, without buffers on the GPU."""
    if job.backend.on_host:
        return MpiTransfer(job, buffers=_buffers)
    found = MpiTransfer(job, buffers=partial(_buffers, on_host=True))
    found.path = "MPI through pinned host memory, by strided copies"
    return found


def _buffers(job: Job, *, on_host: bool = False) -> Buffers:
    return Buffers(job, on_host=on_host, launches=copy_one_by_one)


def copy_one_by_one(backend: Backend, copies: Sequence[Copy]) -> list[Launch]:
    """One strided library copy per box; it cannot convert the type of values."""
    return [
        backend.copy_box(
            copy.shape,
            (copy.target.address, copy.target.strides),
            (copy.source.address, copy.source.strides),
        )
        for copy in copies
    ]


COPYING: dict[str, Callable[[Job], Transfer]] = {
    "nccl": partial(NcclTransfer, buffers=_buffers),
    "mpi-gpu": partial(MpiTransfer, buffers=_buffers),
    "mpi-thread": partial(MpiTransfer, threaded=True, buffers=_buffers),
    "mpi": _through_host,
}
