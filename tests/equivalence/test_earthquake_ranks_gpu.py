"""Earthquakes on several GPUs: every file is that of one GPU, bit by bit, however ghosts travel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from gpu import gpu_count
from parallel_runs import MORE_PARALLEL_RUNS, PARALLEL_RUNS, ParallelRun
from ranks import run_cases
from result_comparison import assert_same_results

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(600),
    pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs"),
]
COUNTS = (2, 4)
TRANSPORTS = ("direct", "peer", "nccl", "mpi")
TRIED = {
    replace(run, transport=transport, overlap=overlap).name: replace(
        run, transport=transport, overlap=overlap
    )
    for run in (*PARALLEL_RUNS, *MORE_PARALLEL_RUNS)
    if run.ranks in COUNTS and run.processes
    for transport in TRANSPORTS
    for overlap in (True, False)
    if run.codec == "none" or transport in ("direct", "peer", "mpi")
}
OnRanks = Callable[..., str]
Ran = Callable[[int], Path]


@pytest.fixture(scope="module")
def ran(on_ranks: OnRanks, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The folder with the results of all cases of so many GPUs."""
    folder = tmp_path_factory.mktemp("gpus")

    @cache
    def run_all(ranks: int) -> Path:
        if ranks > gpu_count():
            pytest.skip(f"needs {ranks} GPUs")
        return run_cases(on_ranks, ranks, _cases(ranks), folder)

    return run_all


def _cases(ranks: int) -> dict[str, object]:
    if ranks == 1:
        return {repr(run.variant): run.variant.case(backend="cuda") for run in TRIED.values()}
    cases = {name: run.case() for name, run in TRIED.items() if run.ranks == ranks}
    return {n: {**c, "run": {**c["run"], "backend": "cuda"}} for n, c in cases.items()}


@pytest.mark.parametrize("run", TRIED.values(), ids=TRIED.keys())
def test_any_number_of_gpus_leaves_the_same_files(ran: Ran, run: ParallelRun) -> None:
    assert_same_results(ran(run.ranks) / run.name, ran(1) / repr(run.variant))
