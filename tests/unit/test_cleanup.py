"""What is opened is closed again if all ranks know that there is nothing to come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from groundswell.errors import InputError, known_to_all, now_known
from groundswell.exchange.cleanup import all_or_nothing, opened
from groundswell.exchange.communicator import SerialCommunicator


class Part:
    """Tells in which order parts are closed; a device that is lost may keep one from it."""

    def __init__(self, closed: list[Part], lost: bool = False) -> None:
        self._closed, self._lost = closed, lost
        opened(self)

    def close(self) -> None:
        self._closed.append(self)
        if self._lost:
            raise RuntimeError("illegal address")


def failure(everywhere: bool) -> InputError:
    error = InputError("no such thing")
    return now_known(error) if everywhere else error


def test_what_all_ranks_know_closes_everything() -> None:
    closed: list[Part] = []
    made: list[Part] = []
    with pytest.raises(InputError, match="no such thing"), all_or_nothing():
        with all_or_nothing():
            made.extend(Part(closed) for _ in range(2))
        made.append(Part(closed))
        raise failure(everywhere=True)
    assert closed == made[::-1]


def test_nobody_waits_again_and_again() -> None:
    """After one that cannot be closed; what is told is the first error."""
    closed: list[Part] = []
    with pytest.raises(InputError, match="no such thing"), all_or_nothing():
        made = [Part(closed, lost=lost) for lost in (False, True, False)]
        raise failure(everywhere=True)
    assert closed == made[:0:-1]


def test_nobody_waits_for_ranks_that_know_of_no_error() -> None:
    closed: list[Part] = []
    with pytest.raises(InputError), all_or_nothing():
        Part(closed)
        raise failure(everywhere=False)
    assert not closed


def test_what_others_do_not_know_is_closed_once_they_do() -> None:
    closed: list[Part] = []

    def act() -> None:
        with all_or_nothing():
            Part(closed)
            raise failure(everywhere=False)

    with pytest.raises(InputError):
        SerialCommunicator().collective_try(act)
    assert len(closed) == 1


def test_what_goes_well_stays_open() -> None:
    closed: list[Part] = []
    with all_or_nothing():
        Part(closed)
    Part(closed)
    with pytest.raises(InputError), all_or_nothing():
        raise failure(everywhere=True)
    assert not closed


# --- who knows of an error ------------------------------------------------------------------------


def test_what_was_told_is_news_in_what_is_begun_later() -> None:
    """Unless it is told again in there; what is around knows of both."""
    error = failure(everywhere=True)
    closed: list[Part] = []
    with pytest.raises(InputError), all_or_nothing():
        Part(closed)
        assert not known_to_all(error)
        raise error
    assert not closed and known_to_all(error)
    with pytest.raises(InputError), all_or_nothing():
        Part(closed)
        with all_or_nothing():
            raise now_known(error)
    assert closed and known_to_all(error)


@dataclass(frozen=True)
class Frozen(Exception):
    reason: str


def test_errors_that_let_nobody_set_attributes_are_told_all_the_same() -> None:
    error = Frozen("odd")
    with pytest.raises(Frozen) as caught:
        SerialCommunicator().collective_try(
            lambda: SerialCommunicator().collective_try(throwing(error))
        )
    assert caught.value is error and known_to_all(error)


def throwing(error: Exception) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act
