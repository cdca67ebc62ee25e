"""Messages packed into buffers of the device's memory, for transports that move whole buffers."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Launch
from groundswell.exchange.boxes import copy_launch
from groundswell.exchange.messages import Buffer, pack, unpack
from groundswell.exchange.transports.base import Job, total


class Buffers:
    """A send and a receive buffer that hold all messages of an exchange back to back.

    Attributes:
        pack, unpack: the launches between the fields and the buffers.
        sent, received: address and size of each message.
    """

    def __init__(self, job: Job) -> None:
        backend, fields = job.backend, job.fields
        send_offsets, send_bytes = total([m.send_bytes for m in job.messages])
        receive_offsets, receive_bytes = total([m.receive_bytes for m in job.messages])
        self._arrays = [
            backend.zeros((max(size, 1),), np.uint8) for size in (send_bytes, receive_bytes)
        ]
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
        self.pack: list[Launch] = copy_launch(backend, packed)
        self.unpack: list[Launch] = copy_launch(backend, unpacked)
