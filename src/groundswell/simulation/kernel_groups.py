"""The time of steps by group of kernels, such as velocity, stress and exchange.

Each solver names its groups (`SolverInfo.kernel_groups`). Those of the packages that all solvers
use are here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from groundswell import registry
from groundswell.backends import LaunchTime
from groundswell.exchange.communicator import Communicator

EXCHANGE, RECORDING, OTHER = "exchange", "recording", "other"

SHARED = {
    # kernels of exchange/ and compression/
    **dict.fromkeys(("copy_boxes", "send_boxes", "receive_boxes", "exchange_boxes"), EXCHANGE),
    **dict.fromkeys(("allow_peers", "wait_for_permission", "signal_messages"), EXCHANGE),
    **dict.fromkeys(("poll_flags", "sum_over_ranks"), EXCHANGE),
    **dict.fromkeys(("send_rows", "wait_for_rows", "receive_rows"), EXCHANGE),
    **dict.fromkeys(("mpc_compress", "mpc_decompress"), EXCHANGE),
    **dict.fromkeys(("zfp_compress", "zfp_decompress"), EXCHANGE),
    # calls of the host in exchange/
    **dict.fromkeys(("post MPI messages", "wait for MPI messages"), EXCHANGE),
    **dict.fromkeys(("copy messages to the host", "send, receive and copy back"), EXCHANGE),
    **dict.fromkeys(("post MPI_Ialltoallv", "wait for MPI_Ialltoallv"), EXCHANGE),
    **dict.fromkeys(("NCCL sends and receives", "NCCL allgather", "MPI_Iallgather"), EXCHANGE),
    **dict.fromkeys(("wait for messages", "wait for permission", "copy_bytes"), EXCHANGE),
    "PeerMemory.require_no_timeout": EXCHANGE,
    # kernels of outputs/
    **dict.fromkeys(("record_box", "record_points", "advance_clock"), RECORDING),
    "record_sums": RECORDING,  # of seismology/green/
}


def shares_by_group(
    times: Sequence[LaunchTime], solver: str, comm: Communicator
) -> dict[str, float]:
    """Shares of the time by group, largest first; collective.

    Each group counts with the longest time of all ranks.

    Args:
        times: of this rank's launches.
        solver: its name in the registry.
    """
    own = _seconds_by_group(times, groups_of(solver))
    ranks = comm.allgather(own)
    longest = {group: max(rank.get(group, 0.0) for rank in ranks) for group in _groups_in(ranks)}
    total = sum(longest.values())
    ordered = sorted(longest.items(), key=lambda pair: -pair[1])
    return {group: seconds / total for group, seconds in ordered} if total > 0 else {}


def groups_of(solver: str) -> Mapping[str, str]:
    """The group of each launch that the solver names."""
    info = registry.find(solver)
    return info.load("kernel_groups") if info.has("kernel_groups") else {}


def group_of(time: LaunchTime, named: Mapping[str, str]) -> str:
    """The group of a launch: exchange and recording first, then the section, then the kernel."""
    own = time.section or named.get(time.name, OTHER)
    return SHARED.get(time.name, own)


def _seconds_by_group(times: Iterable[LaunchTime], named: Mapping[str, str]) -> dict[str, float]:
    found = defaultdict[str, float](float)
    for time in times:
        found[group_of(time, named)] += time.seconds
    return dict(found)


def _groups_in(ranks: Iterable[Mapping[str, float]]) -> dict[str, None]:
    """The groups of all ranks, in order of their first appearance."""
    return {group: None for rank in ranks for group in rank}
