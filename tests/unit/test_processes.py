"""Processes that share a machine, that see each other, and that have ended."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from groundswell import processes as module
from groundswell.processes import HOST, Process


def process(pid: int) -> Process:
    """Another process of this machine."""
    return Process.this()._replace(pid=pid, start_time=module._stat(pid)[1])


# --- machines and containers ----------------------------------------------------------------------


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Process:
    monkeypatch.delenv(HOST, raising=False)
    return Process.this()


def test_processes_of_a_machine_see_each_other(here: Process) -> None:
    assert here.sees(here) and here.sees(process(os.getppid()))
    assert here.pid == os.getpid() and here.start_time > 0 and len(set(here.namespaces)) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"machine": "another"},
        {"namespaces": ("pid:[1]", "ipc:[1]")},  # a container
        {"start_time": 1},  # the same number in a copy of the virtual machine
        {"pid": 2**22 + 1},
    ],
)
def test_differences_separate_processes(here: Process, change: dict[str, object]) -> None:
    assert not here.sees(here._replace(**change))


def test_names_of_hosts_do_not_matter(here: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "another")
    assert here.sees(Process.this())


def test_the_host_name_replaces_a_missing_boot_id(
    here: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "BOOT", tmp_path / "missing")
    assert Process.this().machine == socket.gethostname() != here.machine


def test_the_environment_may_divide_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOST, "a")
    first = Process.this()
    assert first.sees(Process.this())
    monkeypatch.setenv(HOST, "b")
    assert not first.sees(Process.this())


# --- processes that have ended --------------------------------------------------------------------


def test_children_are_alive_until_they_end() -> None:
    assert Process.this().alive
    child = subprocess.Popen(["/bin/sleep", "30"])
    known = process(child.pid)
    assert known.alive
    child.kill()
    deadline = time.monotonic() + 5
    while known.alive and time.monotonic() < deadline:  # a zombie until wait()
        time.sleep(0.01)
    assert not known.alive and Path(f"/proc/{child.pid}/stat").exists()
    child.wait()
    assert not known.alive


def test_another_process_may_have_the_number_of_a_dead_one(here: Process) -> None:
    assert not here._replace(start_time=here.start_time - 1).alive


@pytest.mark.parametrize("name", ["x) Z (1", "schläfer"])
def test_names_of_programs_do_not_matter(tmp_path: Path, name: str) -> None:
    """The kernel writes them into the line with the state of a process."""
    program = shutil.copy("/bin/sleep", tmp_path / name)
    with subprocess.Popen([program, "30"], stdout=subprocess.PIPE) as child:
        try:
            deadline = time.monotonic() + 5
            while name.encode() not in Path(f"/proc/{child.pid}/stat").read_bytes():
                assert time.monotonic() < deadline
            assert process(child.pid).alive
        finally:
            child.kill()
