"""Communicators: collective operations on Python objects outside the time loop.

An error on one rank is raised on all ranks, and all ranks close the resources that they opened
together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from itertools import chain
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from groundswell.arrays import Integers
from groundswell.errors import (
    GroundswellError,
    InputError,
    RunFailed,
    begin_together,
    known_to_all,
    now_known,
    reason_of,
)

T = TypeVar("T")
P = ParamSpec("P")
Owner = TypeVar("Owner", bound="OfRanks")
SHOWN = 3  # ranks in a message


class Communicator(ABC):
    """The ranks of a job.

    All ranks must call the collective methods in the same order.

    Attributes:
        rank, size: number of this rank, and number of ranks.
        plans: number of plans created so far, the same on all ranks.
    """

    rank: int
    size: int
    plans = 0

    @abstractmethod
    def _allgather(self, kind: str, value: T) -> list[T]:
        """The values of all ranks in a call of this kind; the kind must agree on all ranks.

        For "gather", only rank 0 needs the values.
        """

    @abstractmethod
    def alltoallv(self, parts: Mapping[int, Integers]) -> dict[int, Integers]:
        """Send integers to other ranks.

        Args:
            parts: arrays (n,) by receiving rank.

        Returns:
            The received arrays by sending rank, without empty ones.
        """

    @abstractmethod
    def abort(self, code: int) -> None:
        """End all processes of the job immediately."""

    def allgather(self, value: T) -> list[T]:
        """The values of all ranks, by rank."""
        return self._allgather("allgather", value)

    def gather(self, value: T) -> list[T]:
        """The values of all ranks on rank 0; an empty list on other ranks."""
        values = self._allgather("gather", value)
        return values if self.first else []

    def bcast(self, value: Any) -> Any:
        """The value of rank 0."""
        return self._allgather("bcast", value if self.first else None)[0]

    def require_alive(self) -> None:  # noqa: B027, a single process has no others to check
        """Check that the other processes still run, if this one can see them.

        Raises:
            RunFailed: a process has ended; names its rank.
        """

    def begin_exchange(self, plan: int) -> None:  # noqa: B027, as above
        """Count an exchange of all ranks, so that ranks which omit it are detected.

        Args:
            plan: the number of its plan, in the order in which all ranks create plans.
        """

    def give_up(self, error: BaseException) -> None:  # noqa: B027, as above
        """Make all later calls fail on all ranks, because this rank has given up an exchange."""

    @property
    def same_host(self) -> list[int]:
        """The ranks whose processes and memory this one can access, including itself."""
        return [self.rank]

    @property
    def same_machine(self) -> list[int]:
        """The ranks that share cores, memory and GPUs with this one, also in other containers."""
        return self.same_host

    @property
    def others(self) -> list[int]:
        """The other ranks."""
        return [rank for rank in range(self.size) if rank != self.rank]

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes files and messages."""
        return self.rank == 0

    @property
    def speaks(self) -> bool:
        """Whether this rank prints for all: rank 0, or the first rank that is alive."""
        return self.first

    def require_same(self, settings: Mapping[str, object]) -> None:
        """Raise InputError on all ranks unless all gave the same values; collective."""
        found = self.allgather({name: repr(value) for name, value in settings.items()})
        for name in dict.fromkeys(chain(*found)):
            ranks_of = defaultdict[str, list[int]](list)
            for rank, other in enumerate(found):
                ranks_of[other.get(name, "nothing")].append(rank)
            if len(ranks_of) > 1:
                given = ", ".join(f"{v} on {_ranks(ranks)}" for v, ranks in ranks_of.items())
                raise InputError(f"{name} must be the same on all ranks, but is {given}")

    # --- errors on all ranks ----------------------------------------------------------------------

    def collective_try(self, act: Callable[[], T]) -> T:
        """Call a function on all ranks; if it fails on one, it fails on all.

        The function may contain other collective calls. If it fails, the resources that it opened
        are closed.

        Returns:
            The result of `act` on this rank.

        Raises:
            GroundswellError: the error of this rank, or of the first rank that has one.
            Exception: another error of `act` on this rank; other ranks raise RunFailed.
        """
        with all_or_nothing():
            results: list[T] = []
            error: Exception | None = None
            try:
                results.append(act())
            except MemoryError as failure:
                where = f"rank {self.rank} is out" if self.size > 1 else "out"
                cure = "use a smaller case, or more ranks"
                error = InputError(f"{where} of memory ({reason_of(failure)}); {cure}")
            except Exception as failure:  # for example, from a user's function
                if known_to_all(failure):
                    raise
                error = failure
            self.fail_together(error)
            return results[0]

    def fail_together(self, error: Exception | None, kind: str = "try") -> None:
        """Raise on all ranks if any has an error: its own, or that of the first rank with an error.

        An error that is not a GroundswellError is a RunFailed on other ranks.
        """
        shared = error
        if error is not None and not isinstance(error, GroundswellError):
            shared = RunFailed(f"rank {self.rank} failed: {type(error).__name__}: {error}")
        try:
            errors = self._allgather(kind, shared)
        except GroundswellError as failure:  # a rank is lost, or makes different calls
            errors = [failure]
        if raised := [e for e in (error, *errors) if e is not None]:
            raise now_known(raised[0])


def _ranks(ranks: Sequence[int]) -> str:
    """The first of some ranks, and how many more there are."""
    more = f" and {len(ranks) - SHOWN} more" if len(ranks) > SHOWN else ""
    return f"rank {', '.join(map(str, ranks[:SHOWN]))}{more}"


class OfRanks(Protocol):
    """An object whose methods all ranks call."""

    comm: Communicator


def reported(method: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """Decorate a method that all ranks of its object's `comm` call: an error is reported to them.

    If all ranks raise an error alike, they may go on. Otherwise, the other ranks raise one, too,
    and do not take values of a later exchange for those of the one that failed.
    """

    @wraps(method)
    def call(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(owner, *args, **kwargs)
        except Exception as error:
            if not known_to_all(error):
                text = f"rank {owner.comm.rank} failed: {type(error).__name__}: {error}"
                kind = InputError if isinstance(error, InputError) else RunFailed
                with suppress(GroundswellError):
                    owner.comm._allgather("try", kind(text))
            raise now_known(error)  # noqa: B904, the same error

    return call


class SerialCommunicator(Communicator):
    """One process, without MPI."""

    rank, size = 0, 1

    def _allgather(self, kind: str, value: T) -> list[T]:
        return [value]

    def alltoallv(self, parts: Mapping[int, Integers]) -> dict[int, Integers]:
        return {rank: part for rank, part in parts.items() if len(part)}

    def abort(self, code: int) -> None:
        raise SystemExit(code)


class SingleRank(SerialCommunicator):
    """One of several ranks, for what each of them does by itself.

    Other ranks do not know its errors, so an enclosing `collective_try` tells them.
    """

    def fail_together(self, error: Exception | None, kind: str = "try") -> None:
        if error is not None:
            raise error


# --- resources of all ranks -----------------------------------------------------------------------


class Closable(Protocol):
    """A resource that all ranks open and close together; closing it twice does nothing."""

    def close(self) -> None:
        """Release memory and handles of other ranks."""


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def opened(part: Closable) -> None:
    """Register an open resource, so that an enclosing `all_or_nothing` closes it after an error."""
    if (parts := _opened.get()) is not None:
        parts.append(part)


class all_or_nothing:  # noqa: N801, named like `suppress`
    """Context that closes the resources opened in it, last first, after an error on all ranks.

    If other ranks do not know the error yet, they would not close their resources. The enclosing
    context then closes the resources, once all ranks know the error.
    """

    # Not a generator: it would set attributes of errors, which some classes forbid.
    def __enter__(self) -> None:
        self._around, self._parts = _opened.get(), list[Closable]()
        self._before = _opened.set(self._parts), begin_together()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if isinstance(error, Exception) and known_to_all(error):
                self._close()
        finally:
            for token in self._before:
                token.var.reset(token)  # type: ignore[arg-type]
            if self._around is not None:
                self._around.extend(self._parts)

    def _close(self) -> None:
        """Close all; stop at the first failure, because a rank or the device is lost."""
        with suppress(Exception):  # the original error matters more
            for part in reversed(self._parts):
                part.close()
        self._parts = []
