"""The cache of compiled kernels: built once, never seen half, bounded, and clear about failures."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from groundswell.backends.cache import KernelCache, default_folder
from groundswell.errors import BackendError


def writes(content: bytes):
    return lambda path: path.write_bytes(content)


def fails(path: Path) -> None:
    path.write_bytes(b"half")
    raise BackendError("the compiler refused")


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_an_entry_is_built_once(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path / "not" / "there" / "yet")
    first = cache.get("a.so", writes(b"first"))
    again = cache.get("a.so", writes(b"second"))
    assert first == again and first.read_bytes() == b"first"


def test_a_failed_build_leaves_nothing_and_may_be_tried_again(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    with pytest.raises(BackendError, match="refused"):
        cache.get("a.so", fails)
    assert cache.entries() == [] and not list(tmp_path.glob(".*.so"))
    assert cache.get("a.so", writes(b"good")).read_bytes() == b"good"


def test_no_reader_sees_half_an_entry(tmp_path: Path) -> None:
    seen = []

    def slowly(path: Path) -> None:
        path.write_bytes(b"half")
        seen.append((tmp_path / "a.so").exists())
        path.write_bytes(b"whole")

    assert KernelCache(tmp_path).get("a.so", slowly).read_bytes() == b"whole"
    assert seen == [False]


def test_threads_that_ask_together_build_once(tmp_path: Path) -> None:
    built, found = [], []

    def slowly(path: Path) -> None:
        built.append(1)
        time.sleep(0.05)
        path.write_bytes(b"x")

    def ask() -> None:
        found.append(KernelCache(tmp_path).get("a.so", slowly).read_bytes())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1 and found == [b"x"] * 8


ASK = """
import sys, time
from pathlib import Path
from groundswell.backends.cache import KernelCache
def build(path):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    time.sleep(0.2)
    path.write_bytes(b"x" * 1000)
assert KernelCache(Path(sys.argv[1])).get("a.cubin", build).stat().st_size == 1000
"""


def test_processes_that_start_together_build_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", ASK, str(tmp_path / "cache"), str(log)]
    running = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert log.read_text() == "built\n"


def test_the_oldest_use_goes_first(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit=250)
    for n, name in enumerate(("a.so", "b.so")):
        age(cache.get(name, writes(bytes(100))), seconds=100 - n)
    cache.get("a.so", fails)  # used again: now b is the oldest
    cache.get("c.cubin", writes(bytes(100)))
    assert {path.name for path in cache.entries()} == {"a.so", "c.cubin"}
    assert cache.size() == 200


def test_a_new_entry_stays_even_if_it_is_too_large(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit=10)
    assert cache.get("a.so", writes(bytes(100))).exists()


def test_clearing_spares_what_is_not_ours(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    cache.get("a.so", writes(b"x"))
    (tmp_path / "note.txt").write_text("mine")
    cache.clear()
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]
    assert cache.size() == 0 and KernelCache(tmp_path / "absent").entries() == []


def test_a_folder_that_cannot_be_made_is_an_error_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BackendError, match="GROUNDSWELL_CACHE"):
        KernelCache(tmp_path / "file" / "cache").get("a.so", writes(b"x"))


def test_where_it_is_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GROUNDSWELL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert default_folder() == Path.home() / ".cache" / "groundswell"
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/groundswell")
    monkeypatch.setenv("GROUNDSWELL_CACHE", "/chosen")
    assert default_folder() == Path("/chosen")


def test_an_entry_that_vanishes_under_the_search(tmp_path: Path) -> None:
    """As when another process deletes it between the listing and the look: a link to nowhere."""
    (tmp_path / "gone.so").symlink_to(tmp_path / "nowhere")
    cache = KernelCache(tmp_path, limit=10)
    entry = cache.get("a.so", writes(b"x" * 100))
    assert cache.entries() == [entry] and cache.size() == 100


def test_what_another_process_is_building_is_left_alone(tmp_path: Path) -> None:
    under_way = tmp_path / ".abc.so"
    under_way.write_bytes(b"x" * 1000)
    cache = KernelCache(tmp_path, limit=10)
    cache.get("a.so", writes(b"x"))
    cache.clear()
    assert under_way.exists() and cache.size() == 0
