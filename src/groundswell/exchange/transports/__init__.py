"""Transports move the bytes of messages to other ranks, whatever values these contain.

A message transport (mpi.py, nccl.py) moves buffers of one rank to buffers of another, by rank and
tag. A memory transport (peer_memory.py) maps memory of other ranks, in which kernels then store.
"""

from collections.abc import Callable, Sequence

from groundswell.exchange.messages import Buffer, Operation, TransferRequest

# Creates an operation that moves the sent buffers of a request's messages to the received buffers
# of their peers.
MessageTransport = Callable[[TransferRequest, Sequence[Buffer], Sequence[Buffer]], Operation]
