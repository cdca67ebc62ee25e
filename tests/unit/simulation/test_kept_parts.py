"""What runs of one process share: parts of set-ups, modules, devices; and what they must not."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_comparison import assert_same_results
from small_cases import CASES, write_small_case

import groundswell as gs
from groundswell.backends import Source, open_backend
from groundswell.backends.compilation import MOST_MODULES
from groundswell.case import load_case
from groundswell.simulation.kept_parts import KeptParts, kept
from groundswell.simulation.session import RunSession
from groundswell.simulation.signals import StopRequest, stop_request, stopping_at_once

KERNEL = """#include "portable.h"
KERNEL fill(real* RESTRICT u, index_t count) { FOR_ITEMS(n, count) { u[n] = VALUE; } }
"""


def test_a_single_run_keeps_nothing() -> None:
    made = iter(range(10))
    assert [kept("part", lambda: 1, lambda: next(made)) for _ in range(3)] == [0, 1, 2]


def test_the_latest_parts_of_each_kind_are_kept() -> None:
    made: list[tuple[str, int]] = []
    with KeptParts(most=2).used():
        for key in (1, 2, 1, 3, 1, 2):
            for kind in "ab":
                found = kept(
                    kind,
                    lambda key=key: key,
                    lambda kind=kind, key=key: made.append((kind, key)) or key,
                )  # type: ignore[misc]
                assert found == key
    keys = [1, 2, 3, 2]
    assert made == [(kind, key) for key in keys for kind in "ab"]


def test_a_part_that_cannot_be_made_is_tried_again() -> None:
    parts = KeptParts()
    with parts.used():
        with pytest.raises(ZeroDivisionError):
            kept("part", lambda: 1, lambda: 1 // 0)
        assert kept("part", lambda: 1, lambda: 2) == 2
        parts.forget()
        assert kept("part", lambda: 1, lambda: 3) == 3


def test_a_digest_with_files_changes_with_these(tmp_path: Path) -> None:
    """Of the sections that it covers, and of no others."""
    (tmp_path / "layers.csv").write_text("top,vp,vs,rho\n0,4000,2300,2600\n")
    medium = {
        "kind": "layered",
        "file": "layers.csv",
        **dict.fromkeys(("vp", "vs", "rho", "qp", "qs")),
    }
    case = load_case(
        write_small_case(tmp_path, "earthquake", medium=medium, attenuation={"model": "none"})
    )
    before = case.digest_with_files(), case.digest_with_files(without=("medium",))
    os.utime(tmp_path / "layers.csv", ns=(1, 1))
    after = case.digest_with_files(), case.digest_with_files(without=("medium",))
    assert before[0] != after[0] and before[1] == after[1]


SHORT = {name: {"time": {"duration": 0.35}} for name in ("earthquake", "dgwave")}


@pytest.mark.most(2)
@pytest.mark.parametrize("solver", [name for name in CASES if name in gs.registry.names()])
def test_runs_of_a_session_give_the_same_bits(tmp_path: Path, solver: str) -> None:
    """After a run of another case, and although the second run finds what the first has made."""
    case = load_case(write_small_case(tmp_path, solver, **SHORT.get(solver, {})))
    other = case.model_copy(update={"title": "another"})
    gs.run(case, folder=tmp_path / "alone")
    session = RunSession()
    for n, each in enumerate((other, case, case)):
        gs.run(each, folder=tmp_path / str(n), session=session)
    for n in (1, 2):
        assert_same_results(tmp_path / str(n), tmp_path / "alone")


def test_runs_of_other_media_in_a_session(tmp_path: Path) -> None:
    """A run does not get the materials of the run before."""
    session, found = RunSession(), []
    for vs in (2300, 2000, 2300):
        case = write_small_case(tmp_path, "earthquake", medium={"vs": vs})
        folder = tmp_path / f"run-{len(found)}"
        found.append(gs.run(case, folder=folder, session=session).seismograms.values)
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])


def test_the_steps_of_a_run_wait_for_their_turn(tmp_path: Path) -> None:
    events: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        events.append("begin")
        yield
        events.append("end")

    summary = gs.run(
        write_small_case(tmp_path, "earthquake"),
        folder=tmp_path / "results",
        session=RunSession(turn),
        callbacks=[gs.every(50, lambda live: events.append("step"))],
    ).summary
    assert events == ["begin", "step", "step", "end"] and "wait" in summary["wall"]


# --- modules --------------------------------------------------------------------------------------


def test_equal_sources_share_a_module(tmp_path: Path) -> None:
    path, backend = tmp_path / "fill.h", open_backend("cpu")
    path.write_text(KERNEL)
    values: list[Any] = [1.0, 2.0, 0.0, -0.0]
    modules = [backend.compile(Source(path, {"VALUE": value})) for value in values]
    assert len({*map(id, modules)}) == len(values)
    assert backend.compile(Source(path, {"VALUE": 1.0})) is modules[0]
    assert open_backend("cpu").compile(Source(path, {"VALUE": 1.0})) is not modules[0]


def test_few_modules_are_kept(tmp_path: Path) -> None:
    path, backend = tmp_path / "fill.h", open_backend("cpu")
    path.write_text(KERNEL)
    for n in range(MOST_MODULES + 5):
        backend.modules.get(Source(path, {"VALUE": n}), object)
    assert len(backend.modules._modules) == MOST_MODULES


# --- signals --------------------------------------------------------------------------------------


def test_a_signal_reaches_what_a_run_is_a_part_of() -> None:
    with stop_request() as outer:
        with stop_request() as inner:
            signal.raise_signal(signal.SIGUSR1)
        assert inner and str(outer) == "SIGUSR1"
    with stop_request() as later:
        assert not later


def test_a_signal_during_set_up_reaches_it_as_well() -> None:
    with stop_request() as outer:
        with pytest.raises(gs.errors.Interrupted), stopping_at_once("nothing has been written"):
            signal.raise_signal(signal.SIGTERM)
        assert str(outer) == "SIGTERM"


def test_a_request_of_its_own_has_no_outer_one() -> None:
    with stop_request() as outer:
        StopRequest().note("SIGTERM")
        assert not outer
