"""Every solver gives the same answer when its problem is turned, mirrored, rolled or exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from ranks import run_cases
from result_comparison import assert_same_results
from small_cases import STEPPERS, small_case
from symmetric_problems import PROBLEMS, Found, turn
from symmetries import Symmetry
from variants import long_variants, short_and_long

from groundswell import registry

pytestmark = pytest.mark.timeout(300)


@cache
def unturned(name: str) -> Found:
    """What a problem finds as it stands; it must vary."""
    found = PROBLEMS[name].solve(Symmetry())
    assert all(np.isfinite(values).all() for values in found.values())
    assert any(np.ptp(values) > 0 for values in found.values())
    return found


def symmetries() -> Iterator[object]:
    """The first of each problem; the others are for long runs."""
    for name, problem in PROBLEMS.items():
        first, *others = [(name, symmetry) for symmetry in problem.symmetries]
        yield pytest.param(*first, id=f"{name}: {first[1]}")
        yield from long_variants(others)


def test_every_solver_has_a_problem() -> None:
    assert {name.split()[-1] for name in PROBLEMS} == set(registry.names())


@pytest.mark.most(3)
@pytest.mark.parametrize("name, symmetry", list(symmetries()))
def test_a_turned_problem_has_the_turned_solution(name: str, symmetry: Symmetry) -> None:
    problem = PROBLEMS[name]
    expected, found = turn(unturned(name), symmetry), problem.solve(symmetry)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        error = np.abs(found[key] - values).max()
        assert error <= problem.tolerance * np.abs(values).max(), key


@pytest.mark.parametrize(
    # Waves below hills are reciprocal, too: tests/unit/solvers/dgwave/test_topography.py.
    "name",
    short_and_long([name for name, p in PROBLEMS.items() if p.exchanged], {"dgwave"}),
)
def test_source_and_receiver_are_interchangeable(name: str) -> None:
    there, back = PROBLEMS[name].exchanged()  # type: ignore[misc]
    assert np.abs(there).max() > 0
    error = np.abs(there - back).max()
    assert error <= PROBLEMS[name].exchange_tolerance * np.abs(there).max()


@pytest.mark.full
def test_ranks_leave_the_bits_of_one(
    on_ranks: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    cases = {name: small_case(name) for name in STEPPERS if name in registry.names()}
    one, three = (run_cases(on_ranks, n, cases, tmp_path_factory.mktemp(f"{n}")) for n in (1, 3))
    for name in cases:
        assert_same_results(three / name, one / name)
