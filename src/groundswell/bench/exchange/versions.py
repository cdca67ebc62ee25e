"""The versions of an exchange that Xue & Roy (2020) compare, in terms of our options.

"Multi-GPU Performance Optimization of a CFD Code using OpenACC on Different Platforms", section
4.5: how a code for CPUs is ported to GPUs, and what was then done about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import Copy
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.transports.base import Job, Transfer
from groundswell.exchange.transports.buffers import Buffers
from groundswell.exchange.transports.mpi import MpiTransfer
from groundswell.exchange.transports.nccl import NcclTransfer
from groundswell.exchange.world import World

AXES = (0, 1, 2)  # k, j, i of the paper
FAST = (2,)


@dataclass(frozen=True)
class Version:
    """One version.

    Args:
        name: that the paper gives it.
        alike: whether all fields send as many layers as the one that needs most.
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
    """What a version exchanges each time, in the place of one `Exchange`: all sends come first.

    Transports that store straight into the neighbour's memory have no buffers to be packed: on
    these, versions differ in the layers and in the number of messages alone.

    Args:
        fields: fields that need no corners, which no version exchanges.

    Raises:
        InputError, BackendError: see `Exchange`.
    """

    def __init__(
        self,
        version: Version,
        backend: Backend,
        world: World,
        cut: Decomposition,
        fields: Sequence[GhostField],
        *,
        transport: str,
        **_: object,
    ) -> None:
        used = [axis for axis in AXES if cut.processes[axis] > 1 or cut.periodic[axis]] or [0]
        packed = [axis for axis in used if axis in version.packed]
        copied = [axis for axis in used if axis not in version.packed]
        make = partial(Exchange, backend, world, cut)
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
        """One exchange, or all sends of several and then all receives."""
        if len(self._parts) == 1:
            return self._parts[0].launches
        sends = [launch for part in self._parts for launch in part.send]
        return sends + [launch for part in self._parts for launch in part.receive]

    def overlap_with(
        self, *, boundary: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """The work, then the exchange: none of the versions overlaps them."""
        return [*boundary, *interior, *self.launches]

    def check(self, after: Event | None = None) -> None:
        """See that no wait was in vain; raises RunFailed."""
        for part in self._parts:
            part.check(after)

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
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
    """Copies between a GPU's fields and pinned memory of the host, without buffers of the GPU."""
    if job.backend.on_host:
        return MpiTransfer(job, buffers=_buffers)
    found = MpiTransfer(job, buffers=partial(_buffers, on_host=True))
    found.path = "MPI through pinned host memory, by strided copies"
    return found


def _buffers(job: Job, *, on_host: bool = False) -> Buffers:
    return Buffers(job, on_host=on_host, launches=copy_one_by_one)


def copy_one_by_one(backend: Backend, copies: Sequence[Copy]) -> list[Launch]:
    """A strided copy of the library's for each box; it cannot change the type of values."""
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
