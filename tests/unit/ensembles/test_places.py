"""Where workers run: cores, GPUs and memory divided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ensemble_plans import write_plan

from groundswell.case import Case
from groundswell.ensembles.base_case import BaseCase
from groundswell.ensembles.executors import places
from groundswell.ensembles.executors.places import places_for
from groundswell.ensembles.plan import Plan, load_plan
from groundswell.errors import BackendError, InputError

BUSES = ["0000:3b:00.0", "0000:86:00.0"]


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan, on a host of 16 cores with two GPUs and much memory."""
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(places, "available_cores", lambda: 16)
    monkeypatch.setattr(places, "host_memory", lambda: (10**12, 10**12))
    monkeypatch.setattr(places, "_visible_buses", lambda: BUSES)
    monkeypatch.setattr(places, "shareable_memory", lambda buses: [10**11] * len(buses))
    return load_plan(write_plan(tmp_path, 20))


def case_of(plan: Plan, backend: str = "cpu") -> Case:
    return BaseCase.of(plan.with_backend(backend)).case(plan.rows[0].settings)


def threads(plan: Plan, *arguments: Any) -> list[str]:
    return [p.environment["OMP_NUM_THREADS"] for p in places_for(plan, case_of(plan), *arguments)]


def test_cores_are_divided(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads(plan, None, 20) == ["1"] * 16
    assert threads(plan, None, 3) == ["5"] * 3
    assert threads(plan, 4, 20) == ["4"] * 4
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert threads(plan, None, 20) == ["8"] * 2


def test_memory_limits_workers_unless_the_user_does(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = places._memory_of(case_of(plan))
    monkeypatch.setattr(places, "host_memory", lambda: (5 * need, 0))
    assert len(threads(plan, None, 20)) == 3
    assert len(threads(plan, 6, 20)) == 6
    monkeypatch.setattr(places, "shareable_memory", lambda buses: [3 * 10**9, 2 * 10**9])
    assert len(places_for(plan, case_of(plan, "cuda"), None, 20)) == 2 * 3


def test_gpus_are_shared_in_turns(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of(plan, "cuda")
    shared = places_for(plan, case, None, 20)
    assert [place.environment["CUDA_VISIBLE_DEVICES"] for place in shared] == ["0", "1"] * 8
    turns = {place.turn for place in shared}
    assert len(turns) == 2 and shared[0].turn == shared[2].turn != shared[1].turn
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-7")
    alone = places_for(plan, case, 2, 20)
    assert [p.environment["CUDA_VISIBLE_DEVICES"] for p in alone] == ["5", "GPU-7"]
    assert [place.turn for place in alone] == [None, None]


def test_without_nvml_each_gpu_has_one_worker(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(buses: Any) -> Any:
        raise BackendError("nvidia-ml-py is not installed")

    monkeypatch.setattr(places, "shareable_memory", missing)
    assert len(places_for(plan, case_of(plan, "cuda"), None, 20)) == 2


def test_runs_of_several_ranks(plan: Plan, tmp_path: Path) -> None:
    """They share the cores; on GPUs, each sees all of them."""
    pair = load_plan(write_plan(tmp_path, 20, ranks_per_run=2))
    assert threads(pair, None, 20) == ["1"] * 8
    [place] = places_for(pair, case_of(pair, "cuda"), None, 20)
    assert place.ranks == 2 and "CUDA_VISIBLE_DEVICES" not in place.environment


def test_a_number_of_workers_that_is_not_positive(plan: Plan) -> None:
    with pytest.raises(InputError, match="workers = 0: give 1 or more"):
        places_for(plan, case_of(plan), 0, 20)
