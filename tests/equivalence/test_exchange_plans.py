"""Plans of several ranks: errors on one of them, arrays of other layouts, codecs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ranks import run_on_ranks

PROGRAM = Path(__file__).parents[1] / "support" / "exchange_plans_program.py"


@pytest.mark.parametrize("check", ["fail", "share", "codec"])
def test_on_two_ranks(on_ranks: Callable[..., str], check: str) -> None:
    assert "all holds" in on_ranks(2, PROGRAM, check)


def test_a_rank_that_ends_before_it_permits_stores_ends_all() -> None:
    """At once, although their time-out would be minutes."""
    done = run_on_ranks(2, PROGRAM, "exit", timeout=60)
    assert done.returncode != 0 and "noticed" in done.stdout, done.stderr[-2000:]
    assert "rank 1 has ended its program before the others" in done.stderr, done.stderr[-2000:]
