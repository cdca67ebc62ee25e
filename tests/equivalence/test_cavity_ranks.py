"""Cavities on several ranks: the flow is that of one rank, bit by bit, on CPUs and on GPUs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from gpu import gpu_count
from ranks import run_cases
from variants import long_variants

pytestmark = pytest.mark.timeout(600)

PERIODIC, CONDUCTING = {"kind": "periodic"}, {"kind": "conducting"}
WARM_LID = {"kind": "fixed", "temperature": 0.1, "velocity": [0.1, 0.05, 0.0]}
WALLS: dict[str, dict[str, Any]] = {
    "walls": {"north": CONDUCTING, "south": {"kind": "symmetry"}, "top": WARM_LID},
    "periodic": {"south": PERIODIC, "north": PERIODIC, "top": WARM_LID},
}
# In SI, far from zero degrees, on grids whose points do not coincide.
WALLS["water"] = {
    "west": {"kind": "fixed", "temperature": 296.0},
    "east": {"kind": "fixed", "temperature": 294.0},
}
# With walls that exchange heat, on a grid whose points cluster at them.
WALLS["stretched"] = {
    "north": {"kind": "conducting"},
    "bottom": {"kind": "flux", "flux": "0.3 * x"},
    "top": {"kind": "robin", "h": 2.0, "ambient": 0.1, "velocity": [0.1, 0.05, 0.0]},
}
STRETCHING = {"x": 1.5, "y": 0.8, "z": 1.2}
WATER = {
    "kind": "properties",
    "viscosity": 3e-3,
    "diffusivity": 4e-3,
    "expansion": 2e-3,
}
STEPS, CYCLES = 60, 12


@dataclass(frozen=True)
class Way:
    """How ranks share a cavity; `physics` is what decides the answer."""

    ranks: int
    processes: tuple[int, int, int] | None
    physics: tuple[str, str, bool, int]  # walls, scheme, local steps, grids
    transport: str = "auto"
    overlap: bool = True
    codec: str = "none"

    def case(self, backend: str) -> dict[str, Any]:
        """The case file's content."""
        walls, scheme, local, levels = self.physics
        steps = {"steps": CYCLES} if levels > 1 else {"steps": STEPS, "check_every": 20}
        run: dict[str, Any] = {"backend": backend, "overlap": self.overlap}
        if self.ranks > 1:
            run |= {"transport": self.transport, "codec": self.codec}
        if self.processes:
            run |= {"processes": list(self.processes)}
        points = [36, 11, 14] if walls == "water" else [37, 11, 13]
        return {
            "solver": "cavity",
            "fluid": WATER if walls == "water" else {"kind": "rayleigh", "rayleigh": 1e5},
            "grid": {
                "points": points,
                "stretching": STRETCHING if walls == "stretched" else {},
            },
            "walls": WALLS[walls],
            "time": {"scheme": scheme, "local": local, "levels": levels} | steps,
            "run": run,
        }

    @property
    def name(self) -> str:
        """Of its folder."""
        cut = "x".join(map(str, self.processes or ("any",)))
        physics = "-".join(map(str, self.physics))
        how = f"{self.transport}-{self.overlap}-{self.codec}"
        return f"{self.ranks}-{cut}-{physics}-{how}"


BOX = ("walls", "euler", True, 1)
GRIDS, OPEN_GRIDS = ("walls", "rk3", True, 2), ("periodic", "rk3", True, 2)
WATER_GRIDS, STRETCHED_GRIDS = ("water", "rk3", True, 2), ("stretched", "rk3", True, 2)
# Ways that share a number of ranks share a start of MPI; those that share physics, their kernels.
CPU = [
    Way(2, (2, 1, 1), BOX, transport="mpi", codec="mpc"),
    Way(4, (1, 2, 2), OPEN_GRIDS, overlap=False),
    Way(4, (2, 1, 2), STRETCHED_GRIDS),
]
LONG = [
    Way(2, (1, 1, 2), BOX),
    Way(4, None, BOX, transport="mpi-thread"),
    Way(2, (2, 1, 1), ("periodic", "rk3", True, 1), overlap=False),
    Way(2, (2, 1, 1), GRIDS, transport="mpi"),
    Way(2, (2, 1, 1), GRIDS, codec="mpc"),
    Way(2, (2, 1, 1), WATER_GRIDS),
    Way(2, (2, 1, 1), WATER_GRIDS, codec="mpc"),
    Way(2, (1, 2, 1), OPEN_GRIDS, overlap=False),
    Way(2, (1, 2, 1), OPEN_GRIDS, transport="mpi", codec="mpc"),
    Way(3, (1, 3, 1), ("walls", "rk4", False, 1), transport="mpi"),
    Way(3, None, BOX, transport="mpi-thread"),
    Way(3, (3, 1, 1), BOX, transport="mpi-thread"),
    Way(3, (1, 1, 3), OPEN_GRIDS, transport="mpi"),
    Way(4, (1, 2, 2), ("periodic", "euler", False, 1)),
    Way(4, (2, 2, 1), ("walls", "rk3", True, 1), overlap=False),
    Way(4, (1, 1, 4), ("periodic", "rk3", True, 1), transport="mpi"),
    Way(4, (2, 2, 1), OPEN_GRIDS, overlap=False),
    Way(4, (1, 2, 2), OPEN_GRIDS, transport="mpi", codec="mpc"),
    Way(4, (2, 1, 2), WATER_GRIDS),
    Way(4, (2, 2, 1), WATER_GRIDS, transport="mpi"),
    Way(6, None, BOX),
    Way(8, (2, 2, 2), BOX),
    Way(8, (2, 2, 2), GRIDS),
    Way(3, (3, 1, 1), STRETCHED_GRIDS, transport="mpi", codec="mpc"),
    Way(8, (2, 2, 2), STRETCHED_GRIDS),
    Way(2, (2, 1, 1), ("stretched", "rk4", False, 1)),
]
GPU = [
    Way(ranks, processes, physics, transport, overlap=transport in ("direct", "nccl"))
    for ranks, processes, physics in (
        (2, (1, 1, 2), BOX),
        (2, (2, 1, 1), ("periodic", "rk3", False, 1)),
        (4, (1, 2, 2), ("periodic", "rk3", False, 1)),
        (4, (2, 2, 1), BOX),
        (2, (2, 1, 1), GRIDS),
        (4, (2, 2, 1), OPEN_GRIDS),
        (2, (2, 1, 1), STRETCHED_GRIDS),
    )
    for transport in ("direct", "peer", "nccl", "mpi")
] + [
    Way(2, (2, 1, 1), GRIDS, transport="direct", codec="mpc"),
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
        alone = {str(w.physics): Way(1, None, w.physics).case(backend) for w in ways}
        cases = {w.name: w.case(backend) for w in ways if w.ranks == ranks} or alone
        return run_cases(on_ranks, ranks, cases, folder)

    return run


def assert_same_flow(found: Path, expected: Path) -> None:
    with (
        xarray.open_dataset(found / "flow.nc", engine="h5netcdf") as a,
        xarray.open_dataset(expected / "flow.nc", engine="h5netcdf") as b,
    ):
        assert set(a) == set(b) == {"p", "u", "v", "w", "T"}
        assert all(np.abs(b[name]).max() > 0 for name in b)
        assert [name for name in b if a[name].values.tobytes() != b[name].values.tobytes()] == []
    residuals = [
        np.loadtxt(p / "residuals.csv", delimiter=",", skiprows=1) for p in (found, expected)
    ]
    assert np.allclose(*residuals, rtol=1e-8) and residuals[0][-1, 0] in (STEPS, CYCLES)
    assert residuals[0][-1, 1] == 0, "the finest grid was not reached"


@pytest.mark.parametrize("way", [*CPU, *long_variants(LONG)], ids=lambda way: way.name)
def test_any_number_of_ranks_finds_the_same_flow(ran: Ran, way: Way) -> None:
    assert_same_flow(ran("cpu", way.ranks) / way.name, ran("cpu", 1) / str(way.physics))


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("way", GPU, ids=lambda way: way.name)
def test_any_number_of_gpus_finds_the_same_flow(ran: Ran, way: Way) -> None:
    if way.ranks > gpu_count():
        pytest.skip(f"needs {way.ranks} GPUs")
    assert_same_flow(ran("cuda", way.ranks) / way.name, ran("cuda", 1) / str(way.physics))


VERSIONS = Path(__file__).parents[1] / "support" / "cavity_versions_program.py"


def check_versions(on_ranks: OnRanks, ranks: int, *arguments: str) -> None:
    assert "all versions agree" in on_ranks(ranks, VERSIONS, *arguments, timeout=300)


@pytest.mark.parametrize("ranks", [2, *long_variants([4])])
def test_versions_of_the_exchange_find_the_same_flow(on_ranks: OnRanks, ranks: int) -> None:
    check_versions(on_ranks, ranks, "cpu", "peer", "mpi")


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
def test_versions_of_the_exchange_find_the_same_flow_on_gpus(on_ranks: OnRanks) -> None:
    check_versions(on_ranks, 2, "cuda", "direct", "nccl", "mpi")


LEVELS = Path(__file__).parents[1] / "support" / "cavity_levels_program.py"
# Numbers of EXCHANGE_POINTS by which ranks divide all three grids, two of them or the finest.
DIVIDED = {"all": "0", "two": "500", "one": "1000000"}


def check_levels(on_ranks: OnRanks, ranks: int, points: str, *arguments: str) -> None:
    found = on_ranks(ranks, LEVELS, "cpu", points, *arguments, timeout=300)
    assert "all flows agree" in found


@pytest.mark.parametrize(
    ("ranks", "processes", "walls"),
    [
        (4, "[1, 2, 2]", "periodic"),
        *long_variants([(2, "[2, 1, 1]", "walls"), (4, "[2, 2, 1]", "periodic")]),
    ],
)
def test_cycles_do_not_depend_on_which_grids_ranks_divide(
    on_ranks: OnRanks, ranks: int, processes: str, walls: str
) -> None:
    """With ghosts that are poisoned before each exchange."""
    place = json.dumps(WALLS[walls])
    check_levels(on_ranks, ranks, "[22, 19, 25]", processes, place, *DIVIDED.values())


@pytest.mark.full
def test_eight_ranks_share_a_small_grid(on_ranks: OnRanks) -> None:
    check_levels(on_ranks, 8, "[31, 31, 31]", "[1, 1, 8]", "{}", DIVIDED["one"])
