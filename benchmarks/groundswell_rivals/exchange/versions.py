"""The versions of an exchange that Xue & Roy (2020) compare, in terms of Groundswell's options.

Their paper, "Multi-GPU Performance Optimization of a CFD Code using OpenACC on Different
Platforms", optimises a code that was ported from CPUs to GPUs (section 4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import Copy, CopyLaunch
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.messages import TransferRequest
from groundswell.exchange.transfer import BufferedTransfer, Maker, Transfer
from groundswell.exchange.transports import MessageTransport
from groundswell.exchange.transports.mpi import MpiTransport
from groundswell.exchange.transports.nccl import NcclTransport
from groundswell_rivals.exchange.strided_copy import copy_box

AXES = (0, 1, 2)  # k, j, i of the paper
FAST = (2,)


@dataclass(frozen=True)
class Version:
    """One version.

    Args:
        name: its name in the paper.
        alike: whether all fields send the largest number of layers that any field needs.
        packed: axes whose faces one kernel packs, all fields in one message. Faces of other axes
            have a message per field, filled by a strided copy of the library; with "mpi", these
            copies are made directly to host memory and back.
    """

    name: str
    alike: bool
    packed: tuple[int, ...]


VERSIONS = {
    "baseline": Version("Baseline", True, ()),  # nothing packed, equal layers for all fields
    "v1": Version("V1", True, FAST),  # packed along the fast axis: its faces are not contiguous
    "v2": Version("V2", False, FAST),  # also, only the layers that the stencil of a field reads
    "v3": Version("V3", False, AXES),  # also, packed along all axes
}


class VersionExchange:
    """The exchange of one version, in place of a `HaloExchange`; all sends come first.

    Transports that store directly into the neighbour's memory have no buffers to pack. On these,
    versions differ only in the layers and the number of messages.

    Args:
        fields: fields that need no corners, which no version exchanges.
        options: those of a `HaloExchange`; the version replaces all except the transport.

    Raises:
        InputError, BackendError: see `HaloExchange`.
    """

    def __init__(
        self,
        version: Version,
        backend: Backend,
        comm: Communicator,
        decomposition: Decomposition,
        fields: Sequence[GhostField],
        **options: Any,
    ) -> None:
        transport = options["transport"]
        counts, periodic = decomposition.processes, decomposition.periodic
        used = [axis for axis in AXES if counts[axis] > 1 or periodic[axis]] or [0]
        packed = [axis for axis in used if axis in version.packed]
        copied = [axis for axis in used if axis not in version.packed]
        make = partial(HaloExchange, backend, comm, decomposition)
        self._parts: list[HaloExchange] = []
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
        """The work, and then the exchange; no version overlaps them."""
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


class StridedCopies(CopyLaunch):
    """One strided library copy for each box, without a kernel. It cannot convert types."""

    def __init__(self, backend: Backend, copies: Sequence[Copy]) -> None:
        self.tables = []
        self.launches = [
            copy_box(
                backend,
                copy.shape,
                (copy.target.address, copy.target.strides),
                (copy.source.address, copy.source.strides),
            )
            for copy in copies
        ]


def _through_host(request: TransferRequest) -> Transfer:
    """Copies between fields on a GPU and pinned host memory, without buffers on the GPU."""
    if request.backend.on_host:
        return _by_copies(request, MpiTransport)
    found = _by_copies(request, MpiTransport, on_host=True)
    found.path = "MPI through pinned host memory, by strided copies"
    return found


def _by_copies(
    request: TransferRequest, transport: MessageTransport, *, on_host: bool = False
) -> Transfer:
    return BufferedTransfer(request, transport, copies=StridedCopies, on_host=on_host)


COPYING: dict[str, Maker] = {
    "nccl": partial(_by_copies, transport=NcclTransport),
    "mpi-gpu": partial(_by_copies, transport=MpiTransport),
    "mpi-thread": partial(_by_copies, transport=partial(MpiTransport, threaded=True)),
    "mpi": _through_host,
}
