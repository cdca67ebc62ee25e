"""Earthquakes on several ranks: every file is that of one rank, bit by bit.

Each number of ranks runs its cases in one start of MPI.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from parallel_runs import MORE_PARALLEL_RUNS, PARALLEL_RUNS, PERIODIC, ParallelRun, Variant
from ranks import run_cases
from result_comparison import assert_same_results, result_arrays
from variants import long_variants

pytestmark = pytest.mark.timeout(300)
OnRanks = Callable[..., str]
Ran = Callable[[int], Path]
every_run = pytest.mark.parametrize(
    "run", [*PARALLEL_RUNS, *long_variants(MORE_PARALLEL_RUNS)], ids=lambda run: run.name
)
VARIANTS = sorted({run.variant for run in PARALLEL_RUNS}, key=repr)
MORE_VARIANTS = [replace(PERIODIC, sea=True), replace(PERIODIC, single_receiver=True)]


@pytest.fixture(scope="module")
def ran(on_ranks: OnRanks, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Ran:
    """The folder with the results of all cases of so many ranks."""
    folder = tmp_path_factory.mktemp("ranks")
    runs = [*PARALLEL_RUNS, *MORE_PARALLEL_RUNS] if full else PARALLEL_RUNS

    @cache
    def run_all(ranks: int) -> Path:
        whole = {repr(run.variant): run.variant.case() for run in runs}
        cases = {run.name: run.case() for run in runs if run.ranks == ranks} or whole
        return run_cases(on_ranks, ranks, cases, folder)

    return run_all


@every_run
def test_any_number_of_ranks_leaves_the_same_files(ran: Ran, run: ParallelRun) -> None:
    reference = ran(1) / repr(run.variant)
    assert_same_results(ran(run.ranks) / run.name, reference)


@every_run
def test_ranks_share_it_as_they_were_told(ran: Ran, run: ParallelRun) -> None:
    found = json.loads((ran(run.ranks) / run.name / "summary.json").read_text())["ranks"]
    assert found["count"] == run.ranks == np.prod(found["processes"])
    assert run.processes is None or tuple(found["processes"]) == run.processes
    assert found["overlap"] == run.overlap or run.processes is None
    assert found["bytes_sent_per_step"] > 0
    if run.transport != "auto":  # which measures and takes the fastest
        assert ("memory" in found["transport"]) == (run.transport == "peer")
        assert found["transport"].startswith("mpc over") == (run.codec == "mpc")


@pytest.mark.parametrize("variant", [*VARIANTS, *long_variants(MORE_VARIANTS)], ids=repr)
def test_there_is_something_to_compare(ran: Ran, variant: Variant) -> None:
    """Every receiver hears a source, and all of them are heard across blocks."""
    values = result_arrays(ran(1) / repr(variant))
    dtype = {"single": "f4", "double": "f8"}[variant.precision]
    heard = values["seismograms.h5:velocity"]
    series = np.frombuffer(heard, dtype).reshape(len(variant.places), 3, -1)
    still = np.zeros((len(variant.places), 3), bool)
    if variant.sea and variant.top == "free-surface":  # the surface of the sea moves up and down
        still[:, :2] = np.array(variant.places)[:, 2:] == 0
    assert np.array_equal(np.abs(series).max(axis=2) > 0, ~still)
    if variant.yields:
        strain = np.frombuffer(values["plastic_strain.nc:plastic_strain"], dtype)
        assert 0.05 < np.mean(strain > 0) < 0.9
