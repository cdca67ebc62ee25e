"""`[[output.record]]` in whole runs: against what solvers write themselves; ranks; restarts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from ranks import COMMAND, run_on_ranks
from toml_text import toml
from variants import long_variants, short_and_long

import groundswell
from groundswell.errors import InputError
from groundswell.solvers.poisson.case import PoissonCase

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(240)]

Write = Callable[..., Path]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"


def table(**entries: Any) -> str:
    return "\n".join(["[[output.record]]", *(f"{k} = {toml(v)}" for k, v in entries.items())])


def numbers(path: Path) -> dict[str, bytes]:
    """Every array of a file, bit by bit."""
    found: dict[str, bytes] = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: (
                found.update({name: np.ascontiguousarray(item[...]).tobytes()})
                if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu"
                else None
            )
        )
    return found


def opened(path: Path) -> xarray.Dataset:
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as found:
        return found.load()


def assert_same_records(folder: Path, reference: Path) -> None:
    names = [p.name for p in reference.iterdir() if p.name.startswith("r-")]
    assert len(names) >= 3
    for name in names:
        assert numbers(folder / name) == numbers(reference / name), name


def stopped_and_resumed(case: Path, at: int, wrote: int, resumes: int) -> Path:
    """The results of a run that was stopped on some ranks, and resumed on others."""
    flags = ("-q", "--no-pictures")
    how = ("SIGUSR1", "0", str(at))
    first = run_on_ranks(wrote, PROGRAM, *how, "run", case, *flags)
    assert first.returncode not in (0, 1, 2), first.stderr
    done = run_on_ranks(resumes, COMMAND, "run", case, "--resume", *flags)
    assert done.returncode == 0, done.stderr
    return case.parent / "results"


# --- earthquake -----------------------------------------------------------------------------------

RECORDS: list[dict[str, Any]] = [
    {
        "fields": ["vx", "szz"],
        "where": {"kind": "all", "stride": 3},
        "interval": "0.25 s",
        "file": "r-all.nc",
    },
    {
        "fields": ["vx", "vy", "vz"],
        "where": {
            "kind": "points",
            "positions": [["0.8 km", "0.79 km", "0.8 km"], [1210, 1630, 811], [333, 777, 30]],
            "method": "cubic",
        },
        "what": ["raw", "max", "min", "mean", "rms", "final"],
        "file": "r-points.h5",
    },
    {
        "fields": ["vz"],
        "where": {"kind": "plane", "normal": "z", "at": 0.0},
        "what": ["max", "final"],
        "every": 3,
        "from": "0.2 s",
        "file": "r-plane.nc",
    },
]


def earthquake(write_case: Write, folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    output = {"record": RECORDS, "volumes": {"interval": "0.25 s", "stride": 3}}
    return write_case(folder, output=output, **changes)


@pytest.fixture(scope="module")
def quake(write_case: Write, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of an earthquake on one rank, never interrupted."""
    return groundswell.run(earthquake(write_case, tmp_path_factory.mktemp("quake"))).folder


def test_an_earthquakes_snapshots_are_its_volumes(quake: Path) -> None:
    found = opened(quake / "r-all.nc")
    assert found["vx"].dims == ("time", "z", "y", "x") and found["szz"].dims[-1] == "x_szz"
    assert found["x"].values[:2] == pytest.approx([0.0, 300.0])
    assert found["x_szz"].values[:2] == pytest.approx([50.0, 350.0])
    with h5py.File(quake / "volumes.vtkhdf") as file:
        assert found["time"].values == pytest.approx(file["VTKHDF/Steps/Values"][:])
        for name in ("vx", "szz"):
            stored = file[f"VTKHDF/CellData/{name}"][:][:, ::-1]
            assert np.abs(stored).max() > 0
            np.testing.assert_array_equal(found[name].values, stored)


def test_statistics_are_those_of_the_series(quake: Path) -> None:
    series, known = (opened(quake / f"r-points{end}") for end in (".h5", "_statistics.nc"))
    assert known.attrs["samples"] == len(series["time"]) == 100
    for name in ("vx", "vy", "vz"):
        values = series[name].values.astype(float)
        assert np.abs(values).max() > 0
        for what in ("max", "min", "mean"):
            wanted = getattr(values, what)(axis=0)
            assert known[f"{name}_{what}"].values == pytest.approx(wanted, rel=1e-6)
        wanted = np.sqrt((values**2).mean(axis=0))
        assert known[f"{name}_rms"].values == pytest.approx(wanted, rel=1e-6)
        assert (known[f"{name}_final"].values != values[-1]).any()


@pytest.mark.parametrize("processes", long_variants(([3, 1, 1], [1, 3, 1], [1, 1, 3])))
def test_an_earthquakes_records_are_the_same_on_ranks(
    write_case: Write, tmp_path: Path, quake: Path, processes: list[int]
) -> None:
    case = earthquake(write_case, tmp_path, run={"processes": processes})
    done = run_on_ranks(3, COMMAND, "run", case, "-q", "--no-pictures")
    assert done.returncode == 0, done.stderr
    assert_same_records(tmp_path / "results", quake)


def test_an_earthquakes_records_go_on_after_a_restart(
    write_case: Write, tmp_path: Path, quake: Path
) -> None:
    assert_same_records(stopped_and_resumed(earthquake(write_case, tmp_path), 5, 2, 1), quake)


# --- cavity ---------------------------------------------------------------------------------------


def cavity(folder: Path, time: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    records = [
        table(
            fields=["p", "u", "v", "w", "T"],
            where={"kind": "all"},
            what=["final", "max"],
            file="r-all.nc",
        ),
        table(
            fields=["u", "T"],
            where={"kind": "line", "start": [0.0, 0.5, 0.5], "end": [1.0, 0.5, 0.5], "points": 9},
            what=["raw", "rms"],
            every=4,
            file="r-line.nc",
        ),
        table(
            fields=["w"],
            where={"kind": "mask", "indices": [0, 700, 351]},
            what=["raw", "mean"],
            every=6,
            file="r-mask.h5",
        ),
    ]
    path = folder / "case.toml"
    path.write_text(
        f"""
        solver = "cavity"
        fluid = {{ kind = "properties", viscosity = 1e-3, diffusivity = 1e-3, expansion = 3e-3 }}
        grid = {{ points = [12, 11, 13] }}
        walls.west = {{ kind = "fixed", temperature = 301.0 }}
        walls.east = {{ kind = "fixed", temperature = 299.0 }}
        time = {{ {time} }}
        """
        + "\n".join(records)
    )
    return path


SCHEMES = {
    "cycles": "steps = 12, levels = 2",
    "euler": 'steps = 40, scheme = "euler", local = false, check_every = 10',
}


@pytest.fixture(scope="module", params=short_and_long(SCHEMES, ["cycles"]))
def flow(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Records of a cavity on one rank, never interrupted."""
    case = cavity(tmp_path_factory.mktemp(request.param), SCHEMES[request.param])
    return SCHEMES[request.param], groundswell.run(case).folder


def test_a_cavitys_final_fields_are_its_flow(flow: tuple[str, Path]) -> None:
    found, whole = opened(flow[1] / "r-all.nc"), opened(flow[1] / "flow.nc")
    inside = (slice(1, -1),) * 3
    for name in ("u", "v", "w", "T"):
        final = found[f"{name}_final"]
        np.testing.assert_array_equal(final.values, whole[name].values[inside])
        assert (found[f"{name}_max"].values >= final.values - 1.0).all()
        for axis in "xyz":
            assert final[axis].values == pytest.approx(whole[axis].values[1:-1])
    pressure = found["p_final"].values - whole["p"].values[inside]
    assert np.ptp(pressure) < 1e-12 and found["T_max"].values.max() > 300


@pytest.mark.full
def test_a_cavitys_records_go_on_after_a_restart(tmp_path: Path, flow: tuple[str, Path]) -> None:
    time, reference = flow
    steps = int(time.split(",")[0].removeprefix("steps = "))
    assert_same_records(stopped_and_resumed(cavity(tmp_path, time), steps // 3, 3, 2), reference)


# --- Poisson --------------------------------------------------------------------------------------

EXACT = "sin(2*x) * cos(y) * exp(z)"


def poisson(**record: Any) -> PoissonCase:
    side = {"kind": "fixed", "value": EXACT}
    given = {"fields": "u", "what": "final", "file": "r-u.nc", **record}
    return PoissonCase.from_dict(
        {
            "mesh": {"kind": "box", "counts": [6, 2, 2], "kershaw": {"eps_y": 0.5, "eps_z": 0.5}},
            "equation": {"source": f"4 * {EXACT}", "exact": EXACT},
            "boundaries": dict.fromkeys(("west", "east", "south", "north", "bottom", "top"), side),
            "method": {"degree": 9},
            "output": {"record": [given]},
        }
    )


@pytest.mark.parametrize(
    "where",
    [
        {"kind": "points", "positions": np.random.default_rng(3).uniform(0, 1, (20, 3)).tolist()},
        {"kind": "line", "start": [0, 0, 0], "end": [1, 1, 1], "points": 11},
        {"kind": "plane", "normal": "y", "at": 0.3, "points": [7, 5]},
    ],
    ids=lambda where: where["kind"],
)
def test_a_solution_is_evaluated_anywhere(tmp_path: Path, where: dict[str, Any]) -> None:
    folder = groundswell.run(poisson(where=where), folder=tmp_path).folder
    found = opened(folder / "r-u.nc")
    x, y, z = xarray.broadcast(found["x"], found["y"], found["z"])
    exact = np.sin(2 * x) * np.cos(y) * np.exp(z)
    assert np.abs(found["u_final"] - exact).max() < 1e-7
    assert found["u_final"].size == {"points": 20, "line": 11, "plane": 35}[where["kind"]]


def test_a_position_outside_is_told_before_anything_is_solved(tmp_path: Path) -> None:
    """By the check as well."""
    outside = poisson(where={"kind": "points", "positions": [[0.5, 0.5, 1.5]]})
    straight = outside.model_copy(
        update={"mesh": outside.mesh.model_copy(update={"kershaw": None})}
    )
    for act in (groundswell.check, lambda case: groundswell.run(case, folder=tmp_path)):
        for case in (outside, straight):
            with pytest.raises(InputError, match=r"1 of 1 positions .* outside the mesh"):
                act(case)
    assert not (tmp_path / "summary.json").exists()
