"""Measurements of several calls: which of them belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundswell.bench.merging import model_of, runs_by_ranks


def run(ranks: int, device: str = "Abacus 9, 4 threads", **more: Any) -> dict[str, Any]:
    found = {"subject": "tides", "backend": "cpu", "ranks": ranks, "devices": [device] * ranks}
    return found | more


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "bench_tides.json": run(1),
        "bench_tides_8_ranks.json": run(8, "Abacus 9, 1 thread"),
        "bench_tides_2_ranks.json": run(2, "Abacus 9, 2 threads", moons=0),
        "bench_tides_3_ranks.json": run(3, "Slide rule, 4 threads"),
        "bench_tides_4_ranks.json": run(4, backend="cuda"),
        "bench_waves_5_ranks.json": run(5, subject="waves"),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    return tmp_path


def test_runs_on_the_same_devices_in_the_order_of_ranks(folder: Path) -> None:
    """Ranks of a CPU have fewer threads the more they are; the latest run replaces an earlier."""
    latest = run(2, "Abacus 9, 2 threads", moons=1)
    found = runs_by_ranks(latest, folder)
    assert [each["ranks"] for each in found] == [1, 2, 8]
    assert found[1] is latest


def test_models_without_threads() -> None:
    assert model_of(run(2)) == "Abacus 9"
    assert model_of(run(1, "NVIDIA H200")) == "NVIDIA H200"
