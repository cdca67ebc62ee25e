"""Earthquakes on several GPUs: every file is that of one GPU, bit by bit, however ghosts travel."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from results import assert_same_results
from ways import LONG, PROGRAM, WAYS, Way

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(600),
    pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs"),
]
COUNTS = (2, 4)
TRANSPORTS = ("fused", "direct", "peer", "nccl", "mpi")
TRIED = {
    replace(way, transport=transport, overlap=overlap).name: replace(
        way, transport=transport, overlap=overlap
    )
    for way in (*WAYS, *LONG)
    if way.ranks in COUNTS and way.processes
    for transport in TRANSPORTS
    for overlap in (True, False)
    if way.codec == "none" or transport in ("direct", "peer", "mpi")
}
Ran = Callable[[int], Path]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The folder with the results of all cases of so many GPUs."""
    folder = tmp_path_factory.mktemp("gpus")

    @cache
    def run(ranks: int) -> Path:
        if ranks > gpu_count():
            pytest.skip(f"needs {ranks} GPUs")
        path = folder / f"{ranks}.json"
        path.write_text(json.dumps(_cases(ranks)))
        done = run_on_ranks(ranks, PROGRAM, path, folder, timeout=500)
        assert done.returncode == 0, done.stderr[-4000:]
        return folder

    return run


def _cases(ranks: int) -> dict[str, object]:
    if ranks == 1:
        return {repr(way.variant): way.variant.case(backend="cuda") for way in TRIED.values()}
    cases = {name: way.case() for name, way in TRIED.items() if way.ranks == ranks}
    return {n: {**c, "run": {**c["run"], "backend": "cuda"}} for n, c in cases.items()}


@pytest.mark.parametrize("way", TRIED.values(), ids=TRIED.keys())
def test_any_number_of_gpus_leaves_the_same_files(ran: Ran, way: Way) -> None:
    assert_same_results(ran(way.ranks) / way.name, ran(1) / repr(way.variant))


@pytest.mark.parametrize("way", TRIED.values(), ids=TRIED.keys())
def test_kernels_store_ghosts_where_they_are_told_to(ran: Ran, way: Way) -> None:
    found = json.loads((ran(way.ranks) / way.name / "summary.json").read_text())["ranks"]
    told = "by the kernels" in found["transport"] and way.codec == "none"
    assert not told or (way.transport == "fused" and way.overlap)
    # Blocks that are cut along z alone are laid out alike whatever their depth.
    if way.transport == "fused" and way.overlap and way.processes in ((1, 1, 2), (1, 1, 4)):
        assert told
