"""Everything that goes wrong in practice, and the clear end that each has to come to."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from results import FINAL, assert_same_results, numbers, source

import groundswell
from groundswell.backends.cpu import CpuBackend
from groundswell.case import load_case
from groundswell.cli import main
from groundswell.errors import GroundswellError, InputError, RunFailed
from groundswell.seismology.formats.awp import VARIABLES
from groundswell.simulation import preparation
from groundswell.simulation.results_folder import claimed
from groundswell.solvers.earthquake.setup import Setup

pytestmark = pytest.mark.timeout(120)

Write = Callable[..., Path]
Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
CELLS = (24, 24, 24)


def refusal(case: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the user reads when `check` and `run` refuse a case, before anything is written."""
    before = sorted(case.parent.rglob("*"))
    told = []
    for words in (["check", str(case)], ["run", str(case), "-q"]):
        assert main(words) == 2
        told.append(capsys.readouterr().err)
    assert told[0].endswith(told[1])  # check has warnings, too
    assert "Traceback" not in told[0] and "bug" not in told[0]
    assert sorted(case.parent.rglob("*")) == before
    return told[1]


# --- cases that cannot run ----------------------------------------------------------------------


def receiver(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "A", "x": "1 km", "y": "1 km", "depth": "0 m", **changes}]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"time": {"step": "13 ms"}}, ["time.step = 0.013 s is unstable", "at most 0.01", "auto"]),
        ({"time": {"step": "1 d"}}, ["time.step", "duration"]),
        ({"source": source(x="2.5 km")}, ["source[0].x", "outside the region", "2400 m"]),
        ({"source": source(depth="-1 m")}, ["source[0].depth", "above the surface"]),
        ({"source": source(depth="9 km")}, ["source[0].depth", "below the region"]),
        ({"receiver": receiver(depth="-3 m")}, ["receiver[0].depth", "above the surface"]),
        ({"receiver": receiver(y="-1 km")}, ["receiver[0].y", "outside the region"]),
        ({"medium": {"vp": 0}}, ["medium.vp"]),
        ({"medium": {"vs": "-2 km/s"}}, ["medium.vs"]),
        ({"medium": {"rho": "0 kg/m^3"}}, ["medium.rho"]),
        ({"medium": {"vp": "nan"}}, ["medium.vp"]),
        ({"medium": {"vs": "3.6 km/s"}}, ["medium.vp", "bulk modulus"]),
        ({"medium": {"vp": "4 km"}}, ["medium.vp", "speed"]),
        ({"grid": {"spacing": "100 kg"}}, ["grid.spacing", "length"]),
        ({"grid": {"spacing": "70 m"}}, ["grid.size", "whole number"]),
        ({"grid": {"spacing": "0 m"}}, ["grid.spacing", "greater than 0"]),
        ({"output": {"seismograms": {"interval": "0.025 s"}}}, ["interval", "whole number"]),
        ({"source": source(magnitude=11)}, ["source[0].magnitude", "10.5"]),
        ({"run": {"backend": "tpu"}}, ["run.backend", "cuda"]),
        ({"medum": {}}, ["medum", "medium"]),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_a_case_that_cannot_run(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    told: list[str],
) -> None:
    error = refusal(write_case(tmp_path, **changes), capsys)
    assert all(text in error for text in told), error


def test_a_run_that_does_not_fit_into_memory(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CpuBackend, "memory_info", lambda self: (10**6, 10**9))
    error = refusal(write_case(tmp_path), capsys)
    assert "GB of memory, but 0.001 GB are free" in error and "larger cells" in error


def test_ranks_that_share_a_device_share_its_memory() -> None:
    backend = SimpleNamespace(memory=lambda: (100, 200))
    job = SimpleNamespace(rank=0, same_machine=[0, 2], share=lambda value: [value] * 3)
    preparation._require_memory([60, 900, 40], backend, job)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2 ranks on one device take 1"):
        preparation._require_memory([60, 0, 50], backend, job)  # type: ignore[arg-type]


def awp_mesh() -> np.ndarray:
    """A uniform mesh, to be spoilt and written."""
    mesh = np.empty((*CELLS[::-1], len(VARIABLES[5])), "<f4")
    mesh[...] = 4000, 2300, 2600, 100, 50
    return mesh


AWP = {"kind": "awp", "file": "mesh.bin", "cells": list(CELLS), "variables": 5}
NO_MATTER = dict.fromkeys(("vp", "vs", "rho", "qp", "qs"))


@pytest.mark.parametrize(
    ("value", "told"), [(np.nan, "nan"), (0.0, "0"), (-1.0, "-1"), (np.inf, "inf")]
)
def test_a_mesh_with_an_impossible_value(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    value: float,
    told: str,
) -> None:
    mesh = awp_mesh()
    mesh[5, 4, 3, 0] = value
    mesh.tofile(tmp_path / "mesh.bin")
    error = refusal(write_case(tmp_path, medium={**NO_MATTER, **AWP}), capsys)
    assert "mesh.bin" in error and told in error
    assert "3" in error and "4" in error and "5" in error


def test_a_truncated_mesh(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mesh.bin").write_bytes(awp_mesh().tobytes()[:-3])
    error = refusal(write_case(tmp_path, medium={**NO_MATTER, **AWP}), capsys)
    assert "mesh.bin" in error and "bytes" in error


def test_a_netcdf_model_with_a_gap(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import xarray

    axis = np.linspace(0, 2400, 7)
    fields = {n: np.full((7, 7, 7), value) for n, value in (("vp", 4e3), ("vs", 2e3), ("rho", 2e3))}
    fields["vp"][3, 2, 1] = np.nan
    xarray.Dataset(
        {name: (("depth", "y", "x"), values) for name, values in fields.items()},
        coords=dict.fromkeys(("x", "y", "depth"), axis),
    ).to_netcdf(tmp_path / "model.nc", engine="h5netcdf")
    medium = {**NO_MATTER, "kind": "netcdf", "file": "model.nc"}
    case = write_case(tmp_path, medium=medium, attenuation={"model": "none"})
    error = refusal(case, capsys)
    assert "model.nc" in error and "vp" in error


def test_arrays_with_a_gap(tiny: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    from groundswell.solvers.earthquake.case import EarthquakeCase

    vp, vs, rho = (np.full(CELLS[::-1], value) for value in (4000.0, 2300.0, 2600.0))
    vp[7, 8, 9] = np.nan
    content = tiny(attenuation={"model": "none"})
    content["medium"] = {"kind": "arrays", "vp": vp, "vs": vs, "rho": rho}
    with pytest.raises(InputError, match="vp"):
        groundswell.run(EarthquakeCase.from_dict(content), folder=tmp_path / "results")
    assert not (tmp_path / "results").exists()


SRF = """2.0
POINTS 1
{longitude} 0.009 1.0 30 90 1e4 0.0 0.01 2.3e5 2.6
0 10.0 12 0 0 0 0
0 1 4 9 12 15 14 10 6 3 1 0
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SRF.format(longitude=0.009)[:-30], "rupture.srf"),
        (SRF.format(longitude=0.09), "lie outside the region"),
        (SRF.format(longitude="nan"), "rupture.srf"),
    ],
    ids=["truncated", "outside", "nan"],
)
def test_a_rupture_that_cannot_be_used(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    (tmp_path / "rupture.srf").write_text(text)
    geography = {"geography": {"origin": [0.0, 0.0]}}
    rupture = [{"kind": "srf", "file": "rupture.srf"}]
    assert told in refusal(write_case(tmp_path, grid=geography, source=rupture), capsys)


def test_the_same_rupture_inside_the_region_is_accepted(write_case: Write, tmp_path: Path) -> None:
    (tmp_path / "rupture.srf").write_text(SRF.format(longitude=0.009))
    geography = {"geography": {"origin": [0.0, 0.0]}}
    case = write_case(tmp_path, grid=geography, source=[{"kind": "srf", "file": "rupture.srf"}])
    assert groundswell.check(case)["sources"] == 1


# --- machines that lack something ---------------------------------------------------------------


def test_no_gpu(write_case: Write, tmp_path: Path, command: Command) -> None:
    done = command("run", write_case(tmp_path), "--backend", "cuda", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2
    assert "CUDA backend was asked for" in done.stderr and 'backend = "cpu"' in done.stderr
    assert not (tmp_path / "results").exists()


def test_no_compiler(write_case: Write, tmp_path: Path, command: Command) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = command("run", write_case(tmp_path), CXX="/nowhere/c++", PATH=str(empty))
    assert done.returncode == 2
    assert "no C++ compiler" in done.stderr and "apt install g++" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_compiler_that_fails(write_case: Write, tmp_path: Path, command: Command) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'internal compiler error: gremlins' >&2\nexit 1\n")
    compiler.chmod(0o755)
    done = command(
        "run", write_case(tmp_path), CXX=str(compiler), GROUNDSWELL_CACHE=str(tmp_path / "cache")
    )
    assert done.returncode == 2 and "gremlins" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_kernel_cache_that_cannot_be_written(
    write_case: Write, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "file").touch()
    done = command("run", write_case(tmp_path), GROUNDSWELL_CACHE=str(tmp_path / "file" / "cache"))
    assert done.returncode == 2 and "GROUNDSWELL_CACHE" in done.stderr
    assert not (tmp_path / "results").exists()


def test_processes_that_start_together_with_an_empty_cache(
    write_case: Write, tmp_path: Path, start: Start
) -> None:
    case, cache = write_case(tmp_path, time={"duration": "0.3 s"}), tmp_path / "cache"
    quiet = ("-q", "--no-pictures")
    running = [
        start("run", case, "--output", tmp_path / str(n), *quiet, GROUNDSWELL_CACHE=str(cache))
        for n in range(3)
    ]
    for process in running:
        _, error = process.communicate(timeout=90)
        assert process.returncode == 0, error
    for n in (1, 2):
        assert_same_results(tmp_path / str(n), tmp_path / "0")
    left = [path.name for path in cache.iterdir() if path.suffix != ".so"]
    assert [name for name in left if not name.endswith(".lock")] == []


# --- places that cannot be written --------------------------------------------------------------


def test_no_folder_can_be_made(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["run", str(write_case(tmp_path)), "--output", str(tmp_path / "file" / "r")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_no_permission(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("groundswell.simulation.results_folder.TemporaryFile", refuse)
    assert main(["run", str(write_case(tmp_path)), "-q"]) == 2
    assert "no permission to write" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_two_runs_in_one_folder(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with claimed(tmp_path / "results"):
        assert main(["run", str(write_case(tmp_path)), "-q"]) == 2
    assert "another run is writing" in capsys.readouterr().err
    assert list((tmp_path / "results").iterdir()) == []
    assert main(["run", str(write_case(tmp_path)), "-q", "--no-pictures"]) == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


MUCH = {"volumes": {"interval": "0.01 s", "stride": 1, "fields": ["vx"]}}  # 55 kB a step


def test_a_full_disk(
    write_case: Write, tmp_path: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, output=MUCH)
    assert main(["run", str(case), "-q", "--output", str(small_disk / "results")]) == 1
    assert "disk full while writing" in capsys.readouterr().err
    assert not FINAL & {path.name for path in (small_disk / "results").iterdir()}


def test_a_full_disk_leaves_the_last_checkpoint(
    write_case: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up in mid-run; with room again the run continues to the same bits."""
    case = write_case(tmp_path, run={"checkpoint": {"steps": 20}})
    groundswell.run(case, folder=tmp_path / "whole")
    from groundswell.formats import appendable_hdf5 as growing

    reserve, calls = growing.reserve, iter(range(10**6))

    def fill(path: Path, start: int, size: int) -> None:
        if next(calls) > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        reserve(path, start, size)

    with monkeypatch.context() as patch:
        patch.setattr(growing, "reserve", fill)
        with pytest.raises(RunFailed, match="disk full"):
            groundswell.run(case, folder=tmp_path / "results")
    assert not FINAL & {path.name for path in (tmp_path / "results").iterdir()}
    result = groundswell.run(case, folder=tmp_path / "results", resume=True)
    assert result.summary["resumed_at"] >= 20
    assert_same_results(tmp_path / "results", tmp_path / "whole")


# --- runs that fail -----------------------------------------------------------------------------


def overflowing() -> list[dict[str, Any]]:
    """Each source alone stays within single precision; their sum does not."""
    [strong] = source(moment="2e44 N m", x="1150 m", y="1150 m", depth="1150 m")
    del strong["magnitude"]
    return [strong] * 8


def test_a_field_that_overflows(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, source=overflowing())
    assert main(["run", str(case), "-q"]) == 1
    error = capsys.readouterr().err
    assert "not finite at x = " in error and "depth = " in error and "t = " in error
    assert any(name in error for name in ("vx", "vy", "vz"))
    assert not FINAL & {path.name for path in (tmp_path / "results").iterdir()}


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_field_that_overflows_on_a_gpu(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, source=overflowing(), run={"backend": "cuda"})
    assert main(["run", str(case), "-q"]) == 1
    assert "not finite at x = " in capsys.readouterr().err


def test_the_first_bad_value_is_named(tiny: Callable[..., dict[str, Any]]) -> None:
    from groundswell.backends import open_backend
    from groundswell.solvers.earthquake.case import EarthquakeCase
    from groundswell.solvers.earthquake.solver import Earthquake

    setup = Setup.from_case(EarthquakeCase.from_dict(tiny()))
    found = Earthquake(setup, open_backend("cpu"))
    found.enqueue_finite_check()
    found.check_health(0)
    found.fields["vy"].interior[4, 9, 11] = np.inf  # 4 layer cells before x and y, none above z
    found.enqueue_finite_check()
    with pytest.raises(
        RunFailed, match=r"^vy is not finite at x = 750 m, y = 550 m, depth = 450 m"
    ):
        found.check_health(12)


def test_an_unexpected_failure_leaves_no_final_names(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = write_case(tmp_path)
    earlier = groundswell.run(case, folder=tmp_path / "results")
    before = numbers(earlier.folder)

    def fail(*_: Any) -> None:
        raise KeyError("gremlin")

    monkeypatch.setattr("groundswell.outputs.ring_buffer.Output.collect", fail)
    changed = write_case(tmp_path, source=source())
    assert main(["run", str(changed), "-q"]) == 1
    error = capsys.readouterr().err
    assert "gremlin" in error and "bug" in error and "Traceback" not in error
    assert numbers(tmp_path / "results") == before  # the earlier run's results are whole
    assert main(["--debug", "run", str(changed), "-q"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_format_that_fails_leaves_the_shaking_map(
    write_case: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RunFailed("full")

    monkeypatch.setattr("groundswell.solvers.earthquake.outputs.write_sac", fail)
    case = write_case(tmp_path, output={"seismograms": {"formats": ["sac"]}})
    with pytest.raises(RunFailed, match="full"):
        groundswell.run(case, folder=tmp_path / "results")
    assert list((tmp_path / "results").rglob("shaking_map.nc*"))


def test_errors_are_of_one_family(write_case: Write, tmp_path: Path) -> None:
    """`except GroundswellError` is enough for a script."""
    with pytest.raises(GroundswellError):
        load_case(write_case(tmp_path, time={"step": "-1 s"}))
