"""`groundswell check`: what it shows of a case before a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_output import unwrapped

from groundswell.backends.cpu import CpuBackend
from groundswell.cli import main
from groundswell.cli.text_tables import show_check
from groundswell.errors import BackendError
from groundswell.simulation import preparation

pytestmark = pytest.mark.timeout(120)

Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


def test_check_shows_what_matters(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    floor = {"floor": {"vs": "2500 m/s"}}
    assert main(["check", str(write_case(tmp_path, medium=floor))]) == 0
    out, error = capsys.readouterr()
    for text in (
        "32 x 32 x 28 = 28,672 cells of 100 m",
        "24 x 24 x 24 cells, 2.4 x 2.4 x 2.4 km",
        "0.01 s; stable up to 0.0",
        "100, from 0 to 1 s",
        "precision single",
        "GB; the results take",
        "GB/s",
        "at full memory bandwidth",
        "2,500 m/s, 50 m deep in cell (0, 0, 0)",
        "up to 4.17 Hz, where the slowest waves are 0.53 % too slow",
        "99 % of the energy below",
        "cells per wavelength",
        "error of Q(f)",
        "vs in 13,824 cells",
    ):
        assert text in unwrapped(out), text
    assert "warning: the sources have energy up to" in unwrapped(error)
    assert "warning: medium.floor raised vs in 13,824 cells (100 %)" in unwrapped(error)
    assert not (tmp_path / "results").exists()


def test_check_shows_each_of_several_quantities_of_the_same_name(capsys: Capture) -> None:
    """Two faults have a stress drop each."""
    quantities = [
        {"label": label, "text": text, "group": "Faults"}
        for label, text in (
            *(("fault main", "420 km²"), ("stress drop", "5.33 MPa")),
            *(("fault branch", "180 km²"), ("stress drop", "5.45 MPa"), ("", "unnamed")),
        )
    ]
    found = {"quantities": quantities, "warnings": [], "device": None}
    show_check({**found, "disk_free": 1e9, "output_bytes": 1e6})
    out = unwrapped(capsys.readouterr().out)
    assert "fault main 420 km² stress drop 5.33 MPa fault branch 180 km² stress drop 5.45" in out
    assert "unnamed" not in out


def test_check_for_a_program(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", str(write_case(tmp_path)), "--precision", "double", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["precision"] == "double" and found["problems"] == []
    assert found["points_per_wavelength"] == pytest.approx(2300 / (found["source_frequency"] * 100))
    assert found["memory"] < found["memory_free"] <= found["memory_total"]
    layers = 8 / 32 + 8 / 32 + 4 / 28  # that a point of 32 x 32 x 28 lies in, on average
    traffic = found["steps"] * 28672 * (44 + 12 * layers) * 8
    assert found["seconds_at_least"] == pytest.approx(traffic / found["bandwidth"])


def test_check_looks_at_the_folder_of_the_results(
    write_case: Write, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = str(write_case(tmp_path))
    monkeypatch.setattr(
        "groundswell.simulation.resources.disk_usage", lambda _: SimpleNamespace(free=9)
    )
    assert main(["check", case]) == 2
    assert "9 B are free" in unwrapped(capsys.readouterr().err)
    monkeypatch.undo()
    (tmp_path / "results").write_text("not a folder")
    assert main(["check", case]) == 2
    assert "cannot be written" in unwrapped(capsys.readouterr().err)


def test_check_on_a_machine_without_the_device(
    write_case: Write, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that can be said is said, and then that it cannot run here."""

    def absent(name: str) -> None:
        raise BackendError(f"there is no {name} here")

    monkeypatch.setattr("groundswell.simulation.resources.open_backend", absent)
    case = str(write_case(tmp_path))
    assert main(["check", case, "--backend", "cuda"]) == 2
    out, error = capsys.readouterr()
    assert "32 x 32 x 28" in out and "there is no cuda here" in error
    assert main(["check", case, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["problems"] == ["there is no cpu here"]


def test_check_of_ranks_on_one_host(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    """They share its memory and bandwidth, and the largest block decides."""
    case = str(write_case(tmp_path))
    assert main(["check", case, "--ranks", "3"]) == 0
    out = unwrapped(capsys.readouterr().out)
    for text in (
        "On 3 ranks process grid 1 x 1 x 3 hosts 1 largest block 32 x 32 x 10",
        "by each rank",
        ", shared by 3 ranks",
        "; 3 ranks take",
        "at full memory bandwidth, without the exchange",
    ):
        assert text in out, text
    assert main(["check", case, "--ranks", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    sharing = found["sharing"]
    assert found["memory"] < 3 * sharing["memory"] < 2 * found["memory"]
    assert (sharing["ranks_per_host"], sharing["ranks_per_device"]) == (3, 3)
    alone = preparation.check(case)
    work, whole = (f["seconds_at_least"] * f["bandwidth"] for f in (found, alone))
    assert work == pytest.approx(whole * 3 * 10 / 28)  # three of 28 layers of cells are 9, 9 and 10


def test_check_of_ranks_on_several_hosts(
    write_case: Write, tmp_path: Path, capsys: Capture
) -> None:
    case = str(write_case(tmp_path))
    assert main(["check", case, "--ranks", "3", "--hosts", "3"]) == 0
    out = unwrapped(capsys.readouterr().out)
    assert "hosts 3 like this one, one rank each" in out
    assert "shared by" not in out and "ranks take" not in out
    assert main(["check", case, "--ranks", "3", "--hosts", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sharing"]["ranks_per_host"] == 2
    assert main(["check", case, "--ranks", "3", "--hosts", "4"]) == 2
    assert "4 hosts for 3 ranks" in capsys.readouterr().err


def test_check_of_ranks_on_gpus(
    write_case: Write, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundswell.simulation.resources.open_backend", lambda name: CpuBackend())
    monkeypatch.setattr("groundswell.simulation.resources.gpu_buses", lambda: ["a", "b"])
    case = [str(write_case(tmp_path)), "--backend", "cuda"]
    for ranks, shared in ((2, False), (3, True)):
        assert main(["check", *case, "--ranks", str(ranks)]) == 0
        assert ("shared by 2 ranks" in unwrapped(capsys.readouterr().out)) is shared


@pytest.mark.parametrize(("more", "fits"), [([], False), (["--hosts", "4"], True)])
def test_ranks_of_one_host_share_its_memory(
    write_case: Write,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    fits: bool,
) -> None:
    case = str(write_case(tmp_path))
    free = preparation.check(case)["memory"] // 2
    monkeypatch.setattr(CpuBackend, "memory_info", lambda self: (free, 10**9))
    assert main(["check", case, "--ranks", "4", *more]) == (0 if fits else 2)
    assert ("4 ranks on one device take 0.00" in capsys.readouterr().err) is not fits
