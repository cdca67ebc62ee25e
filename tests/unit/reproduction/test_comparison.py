"""Published values beside ours: lines, reasons and impossible values."""

from __future__ import annotations

import math
from typing import Any

import pytest
from reproduced_tides import TIDES, run

from groundswell.reproduction.comparison import (
    CLONE,
    FAILED,
    MEASURED,
    NOT_RUN,
    NOTHING,
    SEVERAL_RANKS,
    Comparison,
    Run,
    Section,
    as_dict,
    compare,
    failed_here,
)

HEIGHTS = [
    {"port": "Aber", "height": 4.0, "share": 0.5},
    {"port": "Cork", "height": 3.0, "share": 1.2},
]


def section(*runs: Run) -> Section:
    return compare("tides", TIDES, runs)


def table(number: int, *runs: dict[str, Any]) -> Comparison:
    return section(*map(Run, runs)).comparisons[number - 1]


def test_the_same_thing_stands_in_one_line() -> None:
    """Published values first, then those of each run."""
    other = run(heights=HEIGHTS[1:], devices=["Slide rule"])
    found = table(1, run(heights=HEIGHTS), other, run(subject="waves", heights=HEIGHTS))
    assert found.status == MEASURED and found.runs == [0, 1]
    aber, cork = found.lines
    assert (aber.what, aber.published, aber.ours) == ("Aber", ["4.2", ""], {0: ["4.0", "50 %"]})
    assert (cork.what, cork.published) == ("Cork", ())
    assert cork.ours == {0: ["3.0", "> 100 %"], 1: ["3.0", "> 100 %"]}


def test_columns_without_values_are_left_out() -> None:
    found = table(1, run(heights=HEIGHTS))
    assert (found.columns_of(None), found.columns_of(0)) == ([0], [0, 1])


def test_shares_above_all_are_not_printed_but_explained() -> None:
    assert table(1, run(heights=HEIGHTS)).is_above
    assert not table(1, run(heights=HEIGHTS[:1])).is_above


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_cannot_be_true_are_failures(value: float) -> None:
    found = table(1, run(heights=[HEIGHTS[0] | {"height": value}]))
    assert found.status == FAILED and found.lines[0].ours == {}
    assert found.reasons == [f"ValueError: Aber: height is {value}"]


def test_what_a_machine_lacks() -> None:
    """Nothing is filled in for it."""
    found = section(Run(run(heights=HEIGHTS)))
    reasons = {each.item.source: (each.status, *each.reasons) for each in found.comparisons}
    assert reasons == {
        "Table 1": (MEASURED,),
        "Table 2": (NOT_RUN, NOTHING),
        "Table 3": (NOT_RUN, "needs 2 GPUs"),
        "Table 4": (NOT_RUN, f"needs {SEVERAL_RANKS}"),
        "Table 5": (NOT_RUN, f"needs {CLONE}"),
    }


def test_failures_of_a_table_and_of_a_run() -> None:
    found = table(2, run(failures={"floods": "low water", "other": "wind"}))
    assert (found.status, found.reasons) == (FAILED, ["floods: low water"])
    assert table(1, run(failure="no bandwidth")).reasons == ["no bandwidth"]
    mixed = table(1, run(failure="no bandwidth"), run(heights=HEIGHTS))
    assert (mixed.status, mixed.reasons) == (MEASURED, ["no bandwidth"])


def test_notes_of_its_tables() -> None:
    notes = ["heights: stopped at its time limit", "ebbs: peer: not here"]
    assert table(1, run(heights=HEIGHTS, notes=notes)).reasons == notes[:1]


def test_only_failures_of_this_call_count() -> None:
    broken = run(failures={"floods": "low water"})
    assert failed_here(section(Run(broken))) == ["tides, Table 2: floods: low water"]
    assert failed_here(section(Run(broken, is_here=False), Run(run(heights=HEIGHTS)))) == []


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, "Abacus"),
        ({"scale": "quick"}, "Abacus, small sizes"),
        ({"scale": "full", "ranks": 2}, "2 ranks on Abacus, all sizes"),
        ({"backend": "cuda", "ranks": 2}, "2 x Abacus"),
    ],
)
def test_names_of_runs(more: dict[str, Any], name: str) -> None:
    assert Run(run(**more)).name == name


def test_json() -> None:
    found = as_dict(section(Run(run(heights=HEIGHTS), is_here=False)))
    first = found["items"][0]
    assert (found["name"], found["runs"][0]["here"], first["status"]) == ("Tides", False, MEASURED)
    assert first["lines"][0]["ours"] == {0: ["4.0", "50 %"]}
    assert first["columns"] == ["height, m", "of the moon's"]
