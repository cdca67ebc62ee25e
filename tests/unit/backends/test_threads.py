"""The threads that run kernels on a CPU: how many they are, and how they wait for each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from groundswell.backends import Items, Source, threads
from groundswell.backends.cgroups import cpu_quota
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.threads import OPENMP_BEHAVIOUR, available_cores, team_source

SUPPORT = Path(__file__).parents[2] / "support"
PROGRAM = SUPPORT / "waiting_program.py"


def program(*arguments: str, **variables: str) -> list[float]:
    """What the program of waiting threads prints, where nobody has set how threads behave."""
    kept = {name: v for name, v in os.environ.items() if name not in OPENMP_BEHAVIOUR}
    done = subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


# --- waiting --------------------------------------------------------------------------------------


@pytest.fixture
def busy_cores() -> Iterator[None]:
    """Processes that never rest, one per core."""
    cores = range(len(os.sched_getaffinity(0)))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in cores]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) > 8, reason="needs as many threads as cores")
def test_threads_do_not_spin_on_busy_cores(busy_cores: None) -> None:
    """If they do, each barrier lasts a time slice or two: some 50 times the time of one thread."""
    several, one = program("seconds")
    assert several < 12 * one


def test_a_fork_of_a_process_with_threads_has_its_own() -> None:
    """OpenMP's threads would hang: a fork has only the thread that forked."""
    assert program("fork") == [2, 2, 2]


def test_each_launching_thread_has_its_own_threads() -> None:
    assert program("launchers") == [2] * 8


@pytest.mark.parametrize("policy", ["active", "passive"])
def test_users_can_choose_threads_of_openmp(policy: str) -> None:
    assert program("fork", OMP_WAIT_POLICY=policy)[:1] == [2]


def test_the_environment_decides_whose_threads_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OPENMP_BEHAVIOUR:
        monkeypatch.delenv(name, raising=False)
    assert team_source().path.name == "thread_team.h"
    monkeypatch.setenv("OMP_PLACES", "cores")
    assert team_source().path.name == "openmp_team.h"


# --- sharing loops --------------------------------------------------------------------------------

KERNELS = """
#include "portable.h"
extern "C" int omp_get_num_threads();
KERNEL items(long long* out, index_t count) {
  FOR_ITEMS(n, count) { out[n] += omp_get_num_threads(); }
}
KERNEL cells(long long* out, index_t ni, index_t nj, index_t nk) {
  FOR_CELLS(i, ni, j, nj, k, nk) { out[(k * nj + j) * ni + i] += omp_get_num_threads(); }
}
KERNEL blocks(long long* out, index_t count) {
  FOR_BLOCKS(b, count) { out[b] += omp_get_num_threads(); }
}
"""


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("name", "shape", "shared"),
    [
        ("items", (64,), False),
        ("items", (65,), True),
        ("items", (1001,), True),
        ("cells", (8, 8, 8), False),
        ("cells", (9, 8, 8), True),
        ("cells", (1, 1, 600), True),
        ("blocks", (1,), False),
        ("blocks", (2,), True),
        ("blocks", (97,), True),
    ],
)
def test_loops_of_some_length_are_shared(
    tmp_path: Path, name: str, shape: tuple[int, ...], shared: bool, size: int
) -> None:
    """Each entry is computed once, whatever the number of threads."""
    (tmp_path / "kernels.h").write_text(KERNELS)
    backend = CpuBackend(threads=size)
    out = backend.zeros((int(np.prod(shape)),), np.int64)
    run = backend.compile(Source(tmp_path / "kernels.h", {})).launch(name, Items(1), out, *shape)
    for repeats in (1, 2, 3):
        run()
        assert (out == repeats * (size if shared else 1)).all()


# --- how many -------------------------------------------------------------------------------------


def quota_of(folder: Path, membership: str, files: dict[str, str]) -> float:
    """The quota where control groups look like this."""
    (folder / "own").write_text(membership)
    for name, text in files.items():
        path = folder / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cpu_quota(folder / "own", folder / "groups")


V1 = "cpu,cpuacct/docker/7/cpu.cfs_quota_us", "cpu,cpuacct/docker/7/cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, np.inf),
        ("0::/a/b\n", {"a/cpu.max": "400000 100000", "a/b/cpu.max": "max 100000"}, 4),
        ("0::/gone\n", {}, np.inf),
        ("3:cpu,cpuacct:/docker/7\n0::/\n", {V1[0]: "50000\n", V1[1]: "25000\n"}, 2),
        ("3:cpu,cpuacct:/docker/7\n", {V1[0]: "-1\n", V1[1]: "100000\n"}, np.inf),
        ("4:memory:/docker/7\n", {V1[0]: "50000\n", V1[1]: "25000\n"}, np.inf),
        ("", {}, np.inf),
    ],
)
def test_quotas_of_both_versions(
    tmp_path: Path, membership: str, files: dict[str, str], expected: float
) -> None:
    assert quota_of(tmp_path, membership, files) == expected


@pytest.mark.parametrize(
    ("quota", "ranks", "expected"),
    [(np.inf, 1, 8), (2.5, 1, 3), (0.2, 1, 1), (4, 2, 2), (64, 1, 8)],
)
def test_threads_follow_the_quota(
    monkeypatch: pytest.MonkeyPatch, quota: float, ranks: int, expected: int
) -> None:
    monkeypatch.setattr(threads, "cpu_quota", lambda: quota)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert available_cores(ranks) == expected
    assert ranks > 1 or CpuBackend().cores == expected
