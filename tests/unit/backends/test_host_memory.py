"""The host's memory, and what batch systems and containers leave of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundswell.backends import host_memory as module
from groundswell.backends import open_backend
from groundswell.backends.host_memory import _available_in_cgroups, host_cache, host_memory

GIB = 1 << 30


def group(path: Path, most: str, taken: int, cached: int = 0) -> None:
    """A control group as the kernel shows it."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "memory.max").write_text(f"{most}\n")
    (path / "memory.current").write_text(f"{taken}\n")
    (path / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")


def left(tmp_path: Path, membership: str) -> list[int]:
    (tmp_path / "own").write_text(membership)
    return list(_available_in_cgroups(tmp_path / "own", tmp_path / "groups"))


def test_every_group_above_counts(tmp_path: Path) -> None:
    job = tmp_path / "groups" / "slurm" / "job_7"
    group(job / "step_0", "max", 3 * GIB)
    group(job, str(4 * GIB), 3 * GIB, cached=GIB // 2)
    group(tmp_path / "groups" / "slurm", str(64 * GIB), 60 * GIB)
    assert left(tmp_path, "0::/slurm/job_7/step_0\n") == [3 * GIB // 2, 4 * GIB]


def test_a_container_sees_its_group_as_the_root(tmp_path: Path) -> None:
    group(tmp_path / "groups", str(2 * GIB), 3 * GIB)
    assert left(tmp_path, "0::/\n") == [0]


@pytest.mark.parametrize("membership", ["", "4:memory:/old/version\n", "0::/gone\n", "0::/../x\n"])
def test_without_limits_nothing_is_said(tmp_path: Path, membership: str) -> None:
    (tmp_path / "groups").mkdir()
    assert left(tmp_path, membership) == []


def test_the_least_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    free, total = host_memory()
    assert 0 < free <= total
    monkeypatch.setattr(module, "_available_in_cgroups", lambda: iter([12345]))
    assert open_backend("cpu").memory_info() == (12345, total)


def cache(folder: Path, processor: int, *sizes: str, shared: str) -> None:
    """The caches of a processor, of which the last is shared."""
    for level, size in enumerate(sizes):
        index = folder / f"cpu{processor}" / "cache" / f"index{level}"
        index.mkdir(parents=True)
        (index / "size").write_text(f"{size}\n")
        last = level == len(sizes) - 1
        (index / "shared_cpu_list").write_text(f"{shared if last else processor}\n")


def test_each_last_level_cache_counts_once(tmp_path: Path) -> None:
    for processor, shared in ((0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")):
        cache(tmp_path, processor, "32K", "512K", "32768K", shared=shared)
    assert host_cache([0], tmp_path) == host_cache([0, 1], tmp_path) == 32 << 20
    assert host_cache([1, 2, 3], tmp_path) == 64 << 20


def test_without_information_the_size_of_caches_is_zero(tmp_path: Path) -> None:
    cache(tmp_path, 0, "?", shared="0")
    assert host_cache([0, 1], tmp_path) == 0
    assert open_backend("cpu").cache_bytes >= 0
