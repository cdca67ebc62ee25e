"""Who decides on a domain's blocks: its user, a Cartesian communicator, or the cost."""

from __future__ import annotations

from typing import Any

import pytest

from groundswell.errors import InputError
from groundswell.exchange.process_grid import process_grid

NO_TOPOLOGY = (None, False)
CARTESIAN = ([2, 3], [True, False])
LENGTHS = ((1, 8), (2, 3, 4))  # of 9 x 9 points on 2 x 3 ranks


def test_the_best_grid_is_taken_where_nobody_decides() -> None:
    found = process_grid((9, 90), 3, NO_TOPOLOGY)
    assert found.processes == (1, 3) and found.periodic == (False, False)
    assert process_grid((9, 90), 3, NO_TOPOLOGY, (True, False), (0, 1)).processes == (3, 1)


@pytest.mark.parametrize("processes", [None, (2, 3), (0, 0), (2, 0)])
@pytest.mark.parametrize("blocks", [None, LENGTHS])
def test_a_cartesian_communicator_decides(processes: Any, blocks: Any) -> None:
    found = process_grid((9, 9), 6, CARTESIAN, None, processes, blocks)
    assert found.processes == (2, 3) and found.periodic == (True, False)
    assert found.block(5).shape == ((8, 4) if blocks else (5, 3))


def test_periodic_is_taken_as_given() -> None:
    assert process_grid((9, 9), 6, CARTESIAN, False).periodic == (False, False)
    assert process_grid((9, 9), 6, CARTESIAN, (False, True)).periodic == (False, True)


@pytest.mark.parametrize(
    "processes, blocks",
    [((3, 2), None), ((6, 1), None), (None, LENGTHS[::-1]), (None, ((9,), (1, 1, 1, 1, 1, 4)))],
)
def test_other_blocks_than_the_communicators_are_refused(processes: Any, blocks: Any) -> None:
    words = r"contradict comm, .* dims \(2, 3\).* comm\.Split\(\)"
    with pytest.raises(InputError, match=words):
        process_grid((9, 9), 6, CARTESIAN, None, processes, blocks)


@pytest.mark.parametrize("processes", [(2, 1, 3), (1, 2, 3), (2, 3, 1), (2, 0, 3)])
def test_an_array_may_have_more_axes_than_the_communicator(processes: Any) -> None:
    found = process_grid((4, 4, 4), 6, CARTESIAN, False, processes)
    assert [n for n in found.processes if n > 1] == [2, 3]


def test_axes_that_cannot_be_matched_are_refused() -> None:
    for given in ((), (True,), (None, (2, 1, 3))):
        with pytest.raises(InputError, match=r"Cartesian communicator of 2 axes.* give periodic"):
            process_grid((4, 4, 4), 6, CARTESIAN, *given)
    with pytest.raises(InputError, match="contradict comm"):
        process_grid((4, 4, 4), 6, CARTESIAN, True, (3, 1, 2))
    with pytest.raises(InputError, match="contradict comm"):
        process_grid((8,), 6, CARTESIAN, True, (6,))
    assert process_grid((8,), 2, ([1, 2], [True, False]), True, (2,)).processes == (2,)


@pytest.mark.parametrize("processes", [(3, 2), (2,), (6, 0), "ab"])
def test_processes_that_contradict_blocks_are_refused(processes: Any) -> None:
    with pytest.raises(InputError, match=r"blocks are \(2, 3\) along the axes"):
        process_grid((9, 9), 6, NO_TOPOLOGY, None, processes, LENGTHS)
    assert process_grid((9, 9), 6, NO_TOPOLOGY, None, (0, 3), LENGTHS).processes == (2, 3)
