"""Communicators: collective operations on Python objects outside the time loop.

An error on one rank becomes an error on all ranks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from groundswell.errors import (
    GroundswellError,
    InputError,
    RunFailed,
    known_to_all,
    now_known,
    reason_of,
)
from groundswell.exchange.cleanup import all_or_nothing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Communicator(ABC):
    """The ranks of a job.

    All ranks must call the collective methods in the same order.

    Attributes:
        rank, size: number of this rank, and number of ranks.
    """

    rank: int
    size: int

    def allgather(self, value: Any) -> list[Any]:
        """The values of all ranks, by rank."""
        return self._allgather("allgather", value)

    @abstractmethod
    def _allgather(self, kind: str, value: Any) -> list[Any]:
        """The values of all ranks in a call of this kind, which must be the same on all ranks."""

    @abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks at rank 0; an empty list on other ranks."""

    @abstractmethod
    def bcast(self, value: Any) -> Any:
        """The value of rank 0."""

    @abstractmethod
    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        """Send integers to other ranks.

        Args:
            parts: arrays (n,) by receiving rank.

        Returns:
            The received arrays by sending rank, without empty ones.
        """

    @abstractmethod
    def require_alive(self) -> None:
        """Check that the other processes still run, as far as this one can see.

        Raises:
            RunFailed: a process has ended; names its rank.
        """

    @abstractmethod
    def begin_exchange(self) -> None:
        """Count an exchange of all ranks, so that ranks which omit it are detected."""

    @abstractmethod
    def abort(self, code: int) -> None:
        """End all processes of the job at once."""

    @property
    def same_host(self) -> list[int]:
        """The ranks whose processes and memory this one can access, including itself."""
        return [self.rank]

    @property
    def same_machine(self) -> list[int]:
        """The ranks that share cores, memory and GPUs with this one, in other containers too."""
        return self.same_host

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes files and messages."""
        return self.rank == 0

    def collective_try(self, act: Callable[[], Any]) -> Any:
        """Call a function on all ranks; if it fails on one, it fails on all.

        The function may contain other collective calls. If it fails, what it has opened is closed.

        Returns:
            The result of `act` on this rank.

        Raises:
            GroundswellError: the error of this rank, or of the first rank that has one.
            Exception: another error of `act` on this rank; other ranks raise RunFailed.
        """
        with all_or_nothing():
            return self._try(act)

    def _try(self, act: Callable[[], Any]) -> Any:
        result, error = None, None
        try:
            result = act()
        except GroundswellError as failure:
            if known_to_all(failure):
                raise
            error = failure
        except MemoryError as failure:
            where = f"rank {self.rank} is out" if self.size > 1 else "out"
            cure = "use a smaller case, or more ranks"
            error = InputError(f"{where} of memory ({reason_of(failure)}); {cure}")
        except Exception as failure:  # such as a user's function may raise
            if not known_to_all(failure):
                self._fail_here(failure)
            raise
        self.fail_together(error)
        return result

    def _fail_here(self, failure: Exception) -> None:
        """Report an error that is not a GroundswellError to the other ranks, once."""
        with suppress(GroundswellError):
            kind = type(failure).__name__
            self.fail_together(RunFailed(f"rank {self.rank} failed: {kind}: {failure}"))
        now_known(failure)

    def fail_together(self, error: GroundswellError | None, kind: str = "try") -> None:
        """Raise on all ranks if any has an error: its own, or that of the first that has one."""
        first = next((e for e in self._allgather(kind, error) if e is not None), None)
        raised = error or first
        if raised is not None:
            raise now_known(raised)


class SerialCommunicator(Communicator):
    """One process, without MPI."""

    rank, size = 0, 1

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        return [value]

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def bcast(self, value: Any) -> Any:
        return value

    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        return {rank: part for rank, part in parts.items() if len(part)}

    def require_alive(self) -> None:
        """There are no other ranks."""

    def begin_exchange(self) -> None:
        """There are no other ranks."""

    def abort(self, code: int) -> None:
        raise SystemExit(code)
