"""Resources that ranks have opened together are closed after an error that all ranks know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from groundswell.errors import InputError, known_to_all, now_known
from groundswell.exchange.communicator import SerialCommunicator, all_or_nothing, opened


class Part:
    """Records the order in which parts are closed; closing fails if the device is lost."""

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


def test_an_error_on_all_ranks_closes_everything() -> None:
    closed: list[Part] = []
    made: list[Part] = []
    with pytest.raises(InputError, match="no such thing"), all_or_nothing():
        with all_or_nothing():
            made.extend(Part(closed) for _ in range(2))
        made.append(Part(closed))
        raise failure(everywhere=True)
    assert closed == made[::-1]


def test_closing_stops_at_the_first_failure() -> None:
    """The original error is raised."""
    closed: list[Part] = []
    with pytest.raises(InputError, match="no such thing"), all_or_nothing():
        made = [Part(closed, lost=lost) for lost in (False, True, False)]
        raise failure(everywhere=True)
    assert closed == made[:0:-1]


def test_an_error_on_one_rank_closes_nothing() -> None:
    closed: list[Part] = []
    with pytest.raises(InputError), all_or_nothing():
        Part(closed)
        raise failure(everywhere=False)
    assert not closed


def test_resources_are_closed_when_other_ranks_know_the_error() -> None:
    closed: list[Part] = []

    def act() -> None:
        with all_or_nothing():
            Part(closed)
            raise failure(everywhere=False)

    with pytest.raises(InputError):
        SerialCommunicator().collective_try(act)
    assert len(closed) == 1


def test_without_an_error_resources_stay_open() -> None:
    closed: list[Part] = []
    with all_or_nothing():
        Part(closed)
    Part(closed)
    with pytest.raises(InputError), all_or_nothing():
        raise failure(everywhere=True)
    assert not closed


# --- errors known to all ranks --------------------------------------------------------------------


def test_an_error_known_earlier_is_unknown_in_a_later_operation() -> None:
    """Unless it is reported again within it; the outer operation knows both."""
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


def test_errors_that_forbid_attributes_are_marked_as_known() -> None:
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
