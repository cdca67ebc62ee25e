"""What users say of ranks, devices and transports, alike for domains and numberings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange.codecs import require_codec
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.connect import transport_of
from groundswell.exchange.decomposition import flag
from groundswell.exchange.devices import open_device
from groundswell.exchange.halo import DEFAULTS
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator


def complete_options(backend: Backend, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an exchange: those given, and the defaults of the others."""
    if unknown := sorted(given.keys() - DEFAULTS.keys()):
        raise InputError(
            f"{', '.join(unknown)}: no such argument; options of exchanges are "
            f"{', '.join(DEFAULTS)}"
        )
    how = {**DEFAULTS, **given}
    return {
        "transport": transport_of(backend, how["transport"]),
        "aggregate": flag("aggregate", how["aggregate"]),
        "poison": flag("poison", how["poison"]),
        "codec": require_codec(how["codec"]),
    }


def require_device(given: Any) -> None:
    """Raise InputError unless it is a backend, or names a device."""
    named = isinstance(given, str) and re.fullmatch(r"cpu|cuda(:[0-9]+)?", given)
    if not named and not isinstance(given, Backend):
        raise InputError(f'device = {given!r}: allowed are "cpu", "cuda", and "cuda:0" and so on')


def find_device(device: str | Backend, comm: Communicator, traffic: ArrayLike) -> Backend:
    """A rank's backend as users name it: "cpu", "cuda", "cuda:1", or one that is open.

    Args:
        traffic: see `open_device`.
    """
    require_device(device)
    if isinstance(device, Backend):
        return device
    name, _, number = device.partition(":")
    return open_backend(name, int(number)) if number else open_device(name, comm, traffic)


def ranks_of(comm: Any) -> Communicator:
    """The ranks of a communicator of mpi4py; None for all that were started.

    Raises:
        InputError: it is none, or this rank is not in it.
    """
    if comm is None:
        return get_communicator()
    if not comm or not hasattr(comm, "Dup"):
        raise InputError(f"comm = {comm!r}: give a communicator of mpi4py that this rank is in")
    return MpiCommunicator(comm) if comm.size > 1 else SerialCommunicator()


def cartesian(comm: Any) -> tuple[Sequence[int] | None, Sequence[bool] | bool]:
    """Processes along each axis of a Cartesian communicator, and whether each axis is periodic.

    None and False for any other communicator. Its ranks are numbered as those of a `Decomposition`.
    """
    if comm is None:
        return None, False
    from mpi4py import MPI

    if comm.Get_topology() != MPI.CART:
        return None, False
    dims, periods, _ = MPI.Cartcomm(comm).Get_topo()
    return dims, [bool(period) for period in periods]


def require_same(comm: Communicator, given: Any, cure: str) -> None:
    """Raise InputError on all ranks unless all have given the same; all ranks must call it."""
    found = comm.allgather(given)
    for rank, other in enumerate(found):
        if other != found[0]:
            raise InputError(f"rank {rank} asks for {other}, and rank 0 for {found[0]}; {cure}")
