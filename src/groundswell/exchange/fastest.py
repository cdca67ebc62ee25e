"""The fastest way to exchange given arrays, found by trying all that work here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.plan import Plan
from groundswell.exchange.probe import usable
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, tune


def fastest(
    backend: Backend,
    comm: Communicator,
    problem: Iterable[object],
    make: Callable[[Choice], Plan],
    choices: Sequence[Choice],
) -> Choice:
    """The fastest of the choices.

    Args:
        problem: what the answer depends on; it is remembered in the cache folder.
        make: makes a plan to try, which will be closed.
        choices: the ways to try.

    Raises:
        GroundswellError: no transport works here.
    """
    tried: list[Plan] = []

    def rehearse(choice: Choice) -> Rehearsal:
        tried.append(plan := make(choice))
        return lambda times: _seconds(backend, plan, times)

    able = able_among(backend, comm, choices)
    found = tune(comm, able, rehearse, Memory.of(comm, backend, problem))
    for plan in tried:
        plan.close()
    return found.best


def able_among(backend: Backend, comm: Communicator, choices: Sequence[Choice]) -> Sequence[Choice]:
    """Those whose transports work between all ranks; all of them if none does."""
    # Peer memory ends at the host's walls; of two transports the one between hosts is tried.
    works = usable(backend, comm, sorted({_far(choice) for choice in choices}))
    return [choice for choice in choices if not works[_far(choice)]] or choices


def _far(choice: Choice) -> str:
    return choice.transport.split("+")[-1]


def _seconds(backend: Backend, plan: Plan, times: int) -> float:
    def run() -> None:
        for _ in range(times):
            plan.run(())

    return backend.measure_seconds(run)
