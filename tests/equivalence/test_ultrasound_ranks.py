"""Ultrasound on several ranks: close to one rank, and independent of how values travel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from gpu import gpu_count
from ranks import COMMAND, run_cases, run_on_ranks
from toml_text import toml
from variants import long_variants

import groundswell
from groundswell.errors import InputError

pytestmark = pytest.mark.timeout(600)

MM = 1e-3
LINE = {"kind": "line", "method": "cubic", "points": 41}
MEDIUM = {"speed": 1500.0, "density": 1000.0, "absorption": 0.5, "power": 1.5, "nonlinearity": 6.0}
BURST = {"kind": "burst", "frequency": 0.6e6, "cycles": 2}
# Errors of the overlap, of the largest value, for waves of five points per wavelength.
TOLERANCE = {10: 5e-3, 16: 1e-3}


def plane() -> dict[str, Any]:
    """An arc next to the seam of two blocks, a disc of other tissue across it."""
    return {
        "grid": {"points": [72, 64], "spacing": 0.5 * MM},
        "medium": MEDIUM
        | {"shape": [{"kind": "sphere", "centre": [22 * MM, 16 * MM], "radius": 5 * MM}
                     | {"speed": 1700.0, "density": 1100.0}]},
        "source": [
            {
                "shape": {"kind": "arc", "apex": [4 * MM, 16 * MM], "radius": 16 * MM}
                | {"diameter": 14 * MM, "focus": [20 * MM, 16 * MM]},
                "pressure": 1e5,
                "signal": BURST,
            }
        ],
        "time": {"duration": 1.6e-5},
        "output": records([0.0, 15.8 * MM, 0.0], [35 * MM, 16.1 * MM, 0.0]),
    }  # fmt: skip


def space() -> dict[str, Any]:
    """An initial ball across the middle of all blocks, without losses."""
    return {
        "grid": {"points": [36, 32, 30], "spacing": 0.5 * MM},
        "medium": {"speed": 1500.0, "density": 1000.0}
        | {"shape": [{"kind": "layer", "axis": "z", "from": 10 * MM, "speed": 1800.0}]},
        "initial": {"kind": "gaussian", "centre": [9 * MM, 8 * MM, 7 * MM]}
        | {"width": 0.8 * MM, "pressure": 1e5},
        "time": {"duration": 4e-6},
        "output": records([0.0, 9 * MM, 7 * MM], [17 * MM, 9.1 * MM, 7.2 * MM]),
    }


def inclusion() -> dict[str, Any]:
    """Losses and nonlinearity in a disc inside one of two blocks only."""
    disc = {"kind": "sphere", "centre": [9 * MM, 16 * MM], "radius": 3 * MM}
    return {
        "grid": {"points": [72, 64], "spacing": 0.5 * MM},
        "medium": {"speed": 1500.0, "density": 1000.0, "power": 1.5}
        | {"shape": [disc | {"absorption": 5.0, "nonlinearity": 6.0}]},
        "initial": {"kind": "gaussian", "centre": [14 * MM, 16 * MM]}
        | {"width": 1 * MM, "pressure": 1e5},
        "time": {"duration": 6e-6},
        "output": records([0.0, 15.8 * MM, 0.0], [35 * MM, 16.1 * MM, 0.0]),
    }


def records(start: list[float], end: list[float]) -> dict[str, Any]:
    line = LINE | {"start": start, "end": end}
    return {
        "record": [
            {"fields": ["p", "ux", "uy"], "where": line, "file": "line.nc"},
            {"fields": ["p", "uy"], "where": {"kind": "all"}, "what": "final", "file": "final.nc"},
        ]
    }


CASES = {"plane": plane, "space": space, "inclusion": inclusion}


@dataclass(frozen=True)
class Way:
    """How ranks share a case."""

    ranks: int
    case: str
    processes: tuple[int, int, int]
    overlap: int = 16
    transport: str = "auto"
    materials: str = "cells"

    def content(self, backend: str) -> dict[str, Any]:
        run: dict[str, Any] = {"backend": backend, "processes": list(self.processes)}
        run["materials"] = self.materials
        if self.ranks > 1:
            run |= {"transport": self.transport}
        more = {"solver": "ultrasound", "run": run, "overlap": {"points": self.overlap}}
        return CASES[self.case]() | more

    @property
    def name(self) -> str:
        """Of its folder."""
        cut = "x".join(map(str, self.processes))
        return f"{self.case}-{cut}-{self.overlap}-{self.transport}-{self.materials}"


CPU = [
    Way(2, "plane", (2, 1, 1)),
    Way(2, "plane", (2, 1, 1), transport="mpi"),
    Way(2, "space", (1, 1, 2)),
    Way(2, "inclusion", (2, 1, 1)),
    Way(2, "inclusion", (2, 1, 1), materials="classes"),
    Way(2, "space", (1, 1, 2), materials="classes"),
]
LONG = [
    Way(2, "plane", (1, 2, 1), overlap=10),
    Way(4, "plane", (2, 2, 1)),
    Way(4, "space", (1, 2, 2)),
    Way(3, "space", (3, 1, 1)),
    Way(8, "space", (2, 2, 2)),
    Way(8, "space", (2, 2, 2), transport="mpi"),
]
GPU = [
    Way(2, "plane", (2, 1, 1)),
    Way(2, "plane", (1, 2, 1), transport="nccl"),
    Way(2, "space", (1, 1, 2)),
    Way(2, "space", (1, 1, 2), transport="mpi"),
    Way(2, "inclusion", (2, 1, 1)),
    Way(4, "space", (2, 2, 1)),
    Way(2, "space", (1, 1, 2), materials="classes"),
    Way(2, "inclusion", (2, 1, 1), materials="classes"),
]
OnRanks = Callable[..., str]
Ran = Callable[[str, int], Path]


@pytest.fixture(scope="module")
def ran(on_ranks: OnRanks, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Ran:
    """The folder with the results of all cases of so many ranks."""
    on_cpus = [*CPU, *LONG] if full else CPU

    @cache
    def run(backend: str, ranks: int) -> Path:
        folder = tmp_path_factory.mktemp(f"{backend}-{ranks}")
        ways = on_cpus if backend == "cpu" else GPU
        alone = {name: Way(1, name, (1, 1, 1)).content(backend) for name in CASES}
        cases = {w.name: w.content(backend) for w in ways if w.ranks == ranks} or alone
        return run_cases(on_ranks, ranks, cases, folder)

    return run


def assert_close(found: Path, expected: Path, tolerance: float) -> None:
    for file in ("line.nc", "final.nc", "peak_pressure.nc"):
        with (
            xarray.open_dataset(found / file, engine="h5netcdf") as a,
            xarray.open_dataset(expected / file, engine="h5netcdf") as b,
        ):
            assert set(a) == set(b)
            for name in b:
                scale = float(np.abs(b[name]).max())
                assert scale > 0
                difference = float(np.abs(a[name].values - b[name].values).max())
                assert difference < tolerance * scale, (file, name, difference / scale)


def check(ran: Ran, way: Way, backend: str) -> None:
    found = ran(backend, way.ranks) / way.name
    assert_close(found, ran(backend, 1) / way.case, TOLERANCE[way.overlap])


@pytest.mark.parametrize("way", [*CPU, *long_variants(LONG)], ids=lambda way: way.name)
def test_ranks_find_what_one_rank_finds(ran: Ran, way: Way) -> None:
    check(ran, way, "cpu")


def test_results_do_not_depend_on_the_transport(ran: Ran) -> None:
    assert_same(*(ran("cpu", 2) / way.name for way in CPU[:2]))


def test_classes_of_materials_change_no_bit(ran: Ran) -> None:
    check_classes(ran, CPU, "cpu")


def check_classes(ran: Ran, ways: list[Way], backend: str) -> None:
    in_classes = [way for way in ways if way.materials == "classes"]
    assert in_classes
    for way in in_classes:
        fields = replace(way, materials="cells")
        assert_same(*(ran(backend, way.ranks) / each.name for each in (fields, way)))


def assert_same(one: Path, other: Path) -> None:
    for file in ("line.nc", "final.nc"):
        with (
            xarray.open_dataset(one / file, engine="h5netcdf") as a,
            xarray.open_dataset(other / file, engine="h5netcdf") as b,
        ):
            assert [
                name for name in a if a[name].values.tobytes() != b[name].values.tobytes()
            ] == []


def test_an_impossible_accuracy_is_refused_as_by_a_check(tmp_path: Path) -> None:
    case = {"solver": "ultrasound", **plane(), "overlap": {"accuracy": 1e-9}}
    path = tmp_path / "case.toml"
    path.write_text("".join(f"{key} = {toml(entry)}\n" for key, entry in case.items()))
    with pytest.raises(InputError) as refusal:
        groundswell.check(path, 2)
    done = run_on_ranks(2, COMMAND, "run", path, "-q")
    assert done.returncode == 2 and done.stderr.count("accept overlap.accuracy") == 1
    assert " ".join(str(refusal.value).split()) in " ".join(done.stderr.split())
    assert not (tmp_path / "results").exists()


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
def test_classes_of_materials_change_no_bit_on_gpus(ran: Ran) -> None:
    check_classes(ran, GPU, "cuda")


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("way", GPU, ids=lambda way: way.name)
def test_gpus_find_what_one_gpu_finds(ran: Ran, way: Way) -> None:
    if way.ranks > gpu_count():
        pytest.skip(f"needs {way.ranks} GPUs")
    check(ran, way, "cuda")
