"""Messages packed into buffers, for transports that move whole buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.exchange.boxes import Copy, copy_launch
from groundswell.exchange.messages import Buffer, own_copies, pack, unpack
from groundswell.exchange.transports.base import Job, total

Launches = Callable[[Backend, Sequence[Copy]], list[Launch]]


class Buffers:
    """A send and a receive buffer that hold all messages of an exchange back to back.

    Args:
        on_host: in (pinned) memory of the host, instead of the device's.
        launches: what copies boxes between the fields and the buffers.

    Attributes:
        pack, unpack: the launches between the fields and the buffers.
        sent, received: address and size of each message.
    """

    def __init__(
        self, job: Job, *, on_host: bool = False, launches: Launches = copy_launch
    ) -> None:
        backend, fields = job.backend, job.fields
        send_offsets, send_bytes = total([m.send_bytes for m in job.messages])
        receive_offsets, receive_bytes = total([m.receive_bytes for m in job.messages])
        sizes = [max(size, 1) for size in (send_bytes, receive_bytes)]
        if on_host:
            self._arrays = [backend.pinned_bytes(size) for size in sizes]
            send, receive = (int(array.ctypes.data) for array in self._arrays)
        else:
            self._arrays = [backend.zeros((size,), np.uint8) for size in sizes]
            send, receive = (backend.address(array) for array in self._arrays)
        self.sent = [
            (send + o, m.send_bytes) for o, m in zip(send_offsets, job.messages, strict=True)
        ]
        self.received = [
            (receive + o, m.receive_bytes)
            for o, m in zip(receive_offsets, job.messages, strict=True)
        ]
        packed, unpacked = (
            [
                copy
                for message, (address, _) in zip(job.messages, places, strict=True)
                for copy in make(backend, fields, message, Buffer(address))
            ]
            for make, places in ((pack, self.sent), (unpack, self.received))
        )
        self.pack: list[Launch] = launches(
            backend, [*packed, *own_copies(backend, fields, job.own)]
        )
        self.unpack: list[Launch] = launches(backend, unpacked)
