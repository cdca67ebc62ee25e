"""Cases that cannot run: each is refused before anything is written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from result_comparison import explosion_source

import groundswell
from groundswell.backends.cpu import CpuBackend
from groundswell.cli import main
from groundswell.errors import InputError
from groundswell.report.html import write_report
from groundswell.seismology.formats.awp import VARIABLES
from groundswell.simulation import preparation

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


def receiver(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "A", "x": "1 km", "y": "1 km", "depth": "0 m", **changes}]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"time": {"step": "13 ms"}},
            ["time.step = 0.013 s is unstable", "the limit is 0.0119052 s", "auto"],
        ),
        ({"time": {"step": "1 d"}}, ["time.step", "duration"]),
        ({"source": explosion_source(x="2.5 km")}, ["source[0].x", "outside the region", "2400 m"]),
        ({"source": explosion_source(depth="-1 m")}, ["source[0].depth", "above the surface"]),
        ({"source": explosion_source(depth="9 km")}, ["source[0].depth", "below the region"]),
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
        ({"source": explosion_source(magnitude=11)}, ["source[0].magnitude", "10.5"]),
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
    backend = SimpleNamespace(memory_info=lambda: (100, 200))
    job = SimpleNamespace(rank=0, same_machine=[0, 2], allgather=lambda value: [value] * 3)
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
0 0.75 12 0 0 0 0
0 1 4 9 12 15 14 10 6 3 1 0
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SRF.format(longitude=0.009)[:-30], "rupture.srf"),
        (
            SRF.format(longitude=0.09),
            "source[0]: 1 subfault of rupture.srf lies outside the region, the first is subfault 1 "
            "at x = 10018.8 m, y = 995.169 m, depth = 1000 m (longitude 0.09000, latitude 0.00900 "
            "in the file)",
        ),
        (SRF.format(longitude="nan"), "rupture.srf"),
        (
            SRF.format(longitude=0.009).replace("2.0", "1.0", 1),
            "its version is 1.0, but its points",
        ),
        (SRF.format(longitude=0.009).replace("2.3e5", "2300"), "is vs in m/s? SRF has cm/s"),
        (SRF.format(longitude=0.009).replace("0.75", "75"), "slip1 = 0.75 m, but its rates integr"),
    ],
    ids=["truncated", "outside", "nan", "version", "vs", "slip"],
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
    found = groundswell.check(case)
    (source,) = found["sources"]
    area, slip, mu = 1.0, 0.0075, 2600 * 2300.0**2  # m^2, m, Pa
    assert source["moment"] == pytest.approx(mu * area * slip, rel=1e-6) == found["moment"]
    assert (source["subfaults"], source["file"], source["own_rigidity"]) == (1, "rupture.srf", 1)
    assert not any("rupture.srf" in text for text in found["warnings"])


def test_a_doubled_slip_is_told_before_and_after_the_run(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rupture.srf").write_text(SRF.format(longitude=0.009).replace("0.75", "1.5"))
    rupture = [{"kind": "srf", "file": "rupture.srf", "x": "1 km", "y": "900 m"}]
    case = write_case(tmp_path, source=rupture)
    told = "source[0]: rupture.srf: slip and slip rates disagree in 1 of 1 subfaults; subfault 1"
    assert main(["check", str(case)]) == 0
    assert told in capsys.readouterr().err
    assert main(["run", str(case), "--no-pictures"]) == 0
    assert told in capsys.readouterr().err
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["case"]["sources"][0]["moment"] == summary["case"]["moment"] > 0
    page = write_report(tmp_path / "results").read_text()
    assert told in page and "1 rupture of 1 subfault (rupture.srf)" in page
