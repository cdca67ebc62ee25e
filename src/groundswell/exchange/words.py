"""What ranks tell each other through MPI, outside any exchange: pickled, in parts if it is long."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

PART = 2**30  # bytes of a message at most: many MPI libraries count them in 32 bits
WORDS = 0  # tag of messages


class Word(NamedTuple):
    """What one rank tells another: ranks that talk of different things are out of step.

    Args:
        number: of the call in which it is told, on this rank.
    """

    kind: str
    value: Any
    number: int = 0


def parts(word: Word) -> list[memoryview]:
    """The messages that a word is sent in: the first that is shorter than PART is the last."""
    content = memoryview(pickle.dumps(word, pickle.HIGHEST_PROTOCOL))
    return [content[begin : begin + PART] for begin in range(0, len(content) + 1, PART)]


class Incoming:
    """Words on their way from another rank.

    Attributes:
        word: the next one, once all of it has arrived.
    """

    def __init__(self, comm: Any, source: int) -> None:
        from mpi4py import MPI

        self._comm, self._source, self._byte = comm, source, MPI.BYTE
        self._status = MPI.Status()
        self._parts: list[bytearray] = []
        self.word: Word | None = None

    def awaits(self, number: int) -> bool:
        """Whether no word of this call is here; drops those of earlier calls, which failed."""
        if self.word is not None and self.word.number < number:
            self.word = None
        return self.word is None

    def take(self) -> Word:
        """The word that is here."""
        assert self.word is not None
        word, self.word = self.word, None
        return word

    def look(self) -> bool:
        """Take a part if one has arrived; returns whether one has."""
        message = self._comm.Improbe(self._source, WORDS, self._status)
        if message is None:
            return False
        part = bytearray(self._status.Get_count(self._byte))
        message.Recv([part, self._byte])
        self._parts.append(part)
        if len(part) < PART:
            content = b"".join(self._parts)
            self._parts.clear()  # they may be as large as all else together
            self.word = pickle.loads(content)
        return True
