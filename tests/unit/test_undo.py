"""What is opened is closed again if all ranks know that there is nothing to come of it."""

from __future__ import annotations

import pytest

from groundswell.errors import InputError
from groundswell.exchange.undo import all_or_nothing, opened
from groundswell.exchange.world import Alone


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
    error.everywhere = everywhere
    return error


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
        Alone().agree(act)
    assert len(closed) == 1


def test_what_goes_well_stays_open() -> None:
    closed: list[Part] = []
    with all_or_nothing():
        Part(closed)
    Part(closed)
    with pytest.raises(InputError), all_or_nothing():
        raise failure(everywhere=True)
    assert not closed
