"""The fastest way to exchange, found by trying: transport, messages, overlap.

Every way that works here is rehearsed warm. The figure of merit is the median over repeats of the
maximum over ranks, because a step takes as long as its slowest rank. What was found is remembered,
by machine and problem, and reloaded.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groundswell import __version__
from groundswell.backends import Backend
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.source import digest
from groundswell.errors import GroundswellError, known_to_all
from groundswell.exchange import mpi_library
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS, usual
from groundswell.exchange.gather_scatter.routes import ROUTES

REPEATS = 5
SHORTEST = 0.02  # s that a repeat lasts at least
NEAR = ("direct", "peer")  # transports that end at the host's walls
HOPELESS = 1.5  # times the best so far: such a candidate is not repeated

Rehearsal = Callable[[int], float]  # runs so many exchanges; seconds that this rank took


@dataclass(frozen=True)
class Choice:
    """A way to exchange.

    Args:
        transport: a name in TRANSPORTS.
        aggregate: whether all fields share one message a neighbour.
        overlap: whether the exchange goes on behind the update of interior points.
        route: one of routes.ROUTES.
        codec: what messages are coded with, see connect.connect.
    """

    transport: str
    aggregate: bool = True
    overlap: bool = True
    route: str = "pairwise"
    codec: str = "none"

    def __str__(self) -> str:
        if self.route != "pairwise":
            return f"{self.transport}, {self.route}"
        messages = "one message a neighbour" if self.aggregate else "one message a field"
        coded = "" if self.codec == "none" else f"{self.codec} over "
        return f"{coded}{self.transport}, {messages}, {'over' if self.overlap else 'no over'}lap"


@dataclass(frozen=True)
class Trial:
    """What a choice took, or why it cannot be made."""

    choice: Choice
    seconds: float | None
    reason: str = ""


@dataclass(frozen=True)
class Tuning:
    """The best choice and how the others did, fastest first.

    Args:
        remembered: whether it was found in an earlier run.
    """

    trials: tuple[Trial, ...]
    remembered: bool = False

    @property
    def best(self) -> Choice:
        """The fastest choice."""
        return self.trials[0].choice

    def explain(self) -> str:
        """Why it is the best, in a sentence."""
        first, *others = [t for t in self.trials if t.seconds is not None]
        found = f"{first.choice}: {1e3 * (first.seconds or 0):.3g} ms"
        rest = ", ".join(f"{t.choice} {1e3 * (t.seconds or 0):.3g}" for t in others[:3])
        return found + (f" (then {rest} ms)" if rest else "")

    def as_dict(self) -> dict[str, Any]:
        """For summaries and for the file."""
        return {
            "remembered": self.remembered,
            "trials": [
                {**asdict(t.choice), "seconds": t.seconds, "reason": t.reason} for t in self.trials
            ],
        }


class Memory:
    """A tuning of an earlier run, in the cache folder.

    Args:
        key: of machine and problem.
    """

    def __init__(self, key: str, folder: Path | None = None) -> None:
        self._name = f"tuning-{key}.json"
        self._folder = folder or default_folder()

    @classmethod
    def of(cls, comm: Communicator, backend: Backend, problem: Iterable[Any]) -> Memory:
        """Where the tuning of a problem on these ranks' machines is remembered."""
        devices = [*comm.allgather(backend.device), repr(comm.allgather(comm.same_host))]
        library = mpi_library.version() if comm.size > 1 else ""
        return cls(digest(__version__, *devices, library, *map(repr, problem)))

    def load(self) -> Tuning | None:
        """The remembered tuning, if there is one that can be read."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads((self._folder / self._name).read_text(encoding="utf-8"))
            trials = tuple(_trial(**t) for t in found["trials"])
            return Tuning(trials, remembered=True) if trials else None
        return None

    def save(self, tuning: Tuning) -> None:
        """Remember it; a cache that cannot be written is no reason to fail."""
        text = json.dumps(tuning.as_dict(), indent=1)
        with suppress(OSError, GroundswellError):
            (self._folder / self._name).unlink(missing_ok=True)  # what could not be used
            KernelCache(self._folder).get(self._name, lambda out: _write(out, text))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def candidates(
    backend: Backend,
    comm: Communicator,
    *,
    transport: str = "auto",
    overlap: bool | str = "auto",
    codecs: Sequence[str] = ("none",),
) -> list[Choice]:
    """All choices that the user leaves open.

    Args:
        codecs: that may be tried. Several are where links may be slow: between hosts. Within one
            none pays, as long as memory is faster than kernels can code.
    """
    overlaps = [True, False] if overlap == "auto" else [bool(overlap)]
    names = transports(backend, comm) if transport == "auto" else [transport]
    far = usual(backend, comm) != "peer"
    tried = codecs if far or len(codecs) == 1 else codecs[:1]
    return [
        Choice(n, a, o, codec=c)
        for o in overlaps
        for n in names
        for a in (True, False)
        for c in tried
    ]


def ways(
    backend: Backend, comm: Communicator, *, transport: str, route: str, codec: str = "none"
) -> list[Choice]:
    """The choices of an exchange whose messages may go through other ranks.

    Args:
        transport, route: what the user asks for; "fastest" for all that there are.
        codec: of all.
    """
    names = transports(backend, comm) if transport == "fastest" else [transport]
    routes = ROUTES if route == "fastest" else (route,)
    # MPI's own exchange of all with all is no choice among transports.
    whole = [name for name in names if name in ("auto", "mpi")]
    names_of = {"alltoall": whole if route == "fastest" else names}
    return [Choice(name, route=r, codec=codec) for r in routes for name in names_of.get(r, names)]


def transports(backend: Backend, comm: Communicator) -> list[str]:
    """What could connect these ranks: on several hosts, peer memory only together with others."""
    names = [*TRANSPORTS[backend.name]]
    if usual(backend, comm) == "peer":
        return names
    near = [name for name in names if name in NEAR]
    far = [name for name in names if name not in NEAR]
    return [*(f"{a}+{b}" for b in far for a in near), *far]


def tune(
    comm: Communicator,
    choices: Sequence[Choice],
    rehearse: Callable[[Choice], Rehearsal],
    memory: Memory | None = None,
) -> Tuning:
    """Try the choices, or take the remembered best.

    Args:
        rehearse: makes a rehearsal of a choice; raises GroundswellError if it cannot be made.

    Raises:
        GroundswellError: none of the choices can be made; the error of the first.
    """
    known = comm.bcast(memory.load() if memory and comm.first else None)
    if known and known.best in choices:
        return Tuning(known.trials, remembered=True)
    trials: list[Trial] = []
    for choice in choices:
        best = min((t.seconds for t in trials if t.seconds is not None), default=float("inf"))
        trials.append(_try(comm, choice, rehearse, best))
    if all(t.seconds is None for t in trials):
        rehearse(choices[0])
    trials.sort(key=lambda t: (t.seconds is None, t.seconds))
    tuning = Tuning(tuple(trials))
    if memory and comm.first:
        memory.save(tuning)
    return tuning


def _try(
    comm: Communicator, choice: Choice, rehearse: Callable[[Choice], Rehearsal], best: float
) -> Trial:
    try:
        run = comm.collective_try(lambda: rehearse(choice))
    except GroundswellError as error:
        if not known_to_all(error):
            raise
        return Trial(choice, None, str(error))
    return Trial(choice, _measure(comm, run, best))


def _measure(comm: Communicator, run: Rehearsal, best: float) -> float:
    """Seconds of one exchange."""
    run(1)  # warm
    once = max(comm.allgather(run(1)))
    if once > HOPELESS * best:
        return once
    times = max(1, min(1000, int(SHORTEST / max(once, 1e-9))))
    return statistics.median(max(comm.allgather(run(times))) / times for _ in range(REPEATS))


def _trial(*, seconds: float | None, reason: str, **choice: Any) -> Trial:
    return Trial(Choice(**choice), seconds, reason)
