"""`groundswell info`: devices, links, versions and solvers, alone and on ranks."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_output import unwrapped
from fake_nvml import BUSES, SWITCH, pretend, wire
from ranks import COMMAND, run_on_ranks

from groundswell import registry
from groundswell.cli import machine, main, text_tables
from groundswell.console import is_terminal, open_console
from groundswell.errors import BackendError, install
from groundswell.processes import LAUNCHER_VARIABLES, SIZE_VARIABLES, find_mpiexec

pytestmark = pytest.mark.timeout(120)

Capture = pytest.CaptureFixture[str]
Command = Callable[..., subprocess.CompletedProcess[str]]


def test_info(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from groundswell.backends import open_backend

    def only_cpu(name: str) -> Any:
        if name == "cuda":
            raise BackendError(install("cuda13"))
        return open_backend(name)

    monkeypatch.setattr("groundswell.cli.machine.open_backend", only_cpu)
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    cpu = found["devices"]["cpu"]
    assert cpu["bandwidth"] > 1e8 and 0 < cpu["memory_free"] <= cpu["memory_total"]
    assert "compiler" in cpu["versions"] and "numpy" in found["libraries"]
    assert found["solvers"] == registry.names()
    assert found["cache"]["entries"] >= 1 and found["cache"]["bytes"] > 0
    assert {"mpi4py", "mpiexec", "ranks", "hosts"} <= set(found["mpi"])
    # One process cannot find out whether transports work.
    assert {way["works"] for way in found["transports"]["cpu"].values()} <= {None, False}
    assert {way["works"] for way in found["transports"]["cuda"].values()} == {False}
    assert main(["info"]) == 0
    out = unwrapped(capsys.readouterr().out)
    assert "kernel cache" in out and ".[cuda13]" in out  # brackets are no markup
    assert "ranks on cpu" in out and "ranks on cuda" not in out


def test_info_on_ranks() -> None:
    """Rank 0 alone speaks, and all ways between CPUs work."""
    done = run_on_ranks(2, COMMAND, "info", "--json", timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["transports"]["cpu"] == {
        name: {"works": True, "reason": None} for name in ("peer", "mpi", "mpi-thread")
    }
    assert found["mpi"]["ranks"] == 2 and found["mpi"]["hosts"] == 1
    assert found["mpi"]["thread_level"] == "multiple" and found["mpi"]["library"]
    if found["devices"]["cuda"]["device"] is None:
        reasons = {way["reason"] for way in found["transports"]["cuda"].values()}
        assert reasons == {found["devices"]["cuda"]["reason"]}


def test_info_shows_links(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nvml = pretend(monkeypatch)
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    found = machine._links()
    assert len(found["devices"]) == 4 and len(found["pairs"]) == 6
    assert {"devices": [1, 2], "kind": "nvlink", "bandwidth": 100e9} in found["pairs"]
    rows = text_tables._links(found)["links of GPUs"].splitlines()
    assert rows[0] == "nvlink, about 100 GB/s each way: 1-2"
    assert rows[-1] == "system, about 10 GB/s each way: 0-3 1-3 2-3"
    wire(nvml, **{f"n{n}": [SWITCH] * 18 for n in range(4)})
    rows = text_tables._links(machine._links())["links of GPUs"]
    assert rows == "nvswitch, about 450 GB/s each way: all"
    nvml.absent = {"nvmlInit"}
    assert "NVML" in machine._links()["reason"] and text_tables._links(machine._links()) == {}


def test_info_shows_why_transports_do_not_work() -> None:
    ways = {
        "peer": {"works": True, "reason": None},
        "nccl": {"works": False, "reason": "no library"},
        "mpi": {"works": True, "reason": None},
    }
    assert text_tables._list_transports(ways, "mpiexec") == "peer, mpi work\nnot nccl: no library"
    untested = text_tables._list_transports({"peer": {"works": None}}, "/env/bin/mpiexec")
    assert untested == "peer could work; test with /env/bin/mpiexec -n 2 groundswell info"
    none = {name: {"works": False, "reason": "no mpi4py"} for name in ("peer", "mpi")}
    assert text_tables._list_transports(none, "mpiexec") == "not peer, mpi: no mpi4py"


def test_mpiexec_beside_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment need not be activated, so it may not be on the path."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find_mpiexec() is None
    (tmp_path / "mpiexec").touch()
    assert find_mpiexec() == str(tmp_path / "mpiexec")


def test_files_get_plain_text(command: Command) -> None:
    """Neither escape codes, nor lines that are wrapped or filled up to 80 columns."""
    out = command("info", COLUMNS="", TERM="xterm").stdout
    lines = out.splitlines()
    assert "\x1b" not in out and len(lines) > 5
    assert all(line == line.rstrip() for line in lines)
    assert sum("libraries" in line and "mpi4py" in line for line in lines) == 1


@pytest.mark.parametrize("variable", [("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0")])
def test_processes_of_a_launcher_have_no_terminal(
    variable: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launchers give them one, also to a single process, and may write the output to a file."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    for name in (*SIZE_VARIABLES, *LAUNCHER_VARIABLES, "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert is_terminal(terminal) and open_console(terminal).is_terminal
    monkeypatch.setenv(*variable)
    assert not is_terminal(terminal) and not open_console(terminal).is_terminal
