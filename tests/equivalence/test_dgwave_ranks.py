"""DG waves on several ranks and on GPUs: every file is that of one rank, bit by bit."""

from __future__ import annotations

import atexit
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from gmsh_files import cells_of, numbered, save
from gpu import gpu_count
from ranks import run_cases, run_on_ranks
from result_comparison import assert_same_results, result_arrays
from small_cases import write_small_case
from variants import long_variants, short_and_long

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.meshes.box import Box
from groundswell.meshes.mesh import Mesh
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.solver import DgWave

pytestmark = pytest.mark.timeout(300)

INTERRUPTED = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
PULSE = {"kind": "gaussian", "sigma": 0.05}
# At corners and on faces of elements, which different ranks have, and inside them.
CORNER, FACE, INSIDE = ((400, 400, 200), (200, 330, 200), (570, 120, 310))
RECEIVERS = [*((x, y, z) for x in (0, 400, 800) for y in (200, 600) for z in (0, 400)), INSIDE]
KINDS = ("seismometer", "hydrophone", "ocean-bottom-node")
WATER = {"vp": 1500, "vs": 0, "rho": 1000}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
IMPEDANCE = 3000 * 2500  # kg/m^2/s, the largest
MEDIA = {
    "sea": {"kind": "layered", "layers": [{"top": 0, **WATER}, {"top": 200, **ROCK}]},
    "rock": {"kind": "homogeneous", **ROCK},
    "water": {"kind": "homogeneous", **WATER},
    "soft": {
        "kind": "layered",
        "layers": [
            {"top": 0, **WATER, "qp": 300, "qs": 300},
            {"top": 200, **ROCK, "qp": 60, "qs": 30},
        ],
    },
    "gradient": {
        "kind": "layered",
        "interpolation": "linear",
        "layers": [
            {"top": 0, **WATER},
            {"top": 200, **WATER, "rho": 1100},
            {"top": 200, **ROCK},
            {"top": 400, **ROCK, "vp": 4000},
        ],
    },
}


def at(place: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("x", "y", "depth"), place, strict=True))


def records(field: str) -> list[dict[str, Any]]:
    """A line and a plane across all ranks."""
    line = {"kind": "line", "start": [0, 0, 0], "end": [800, 600, 400], "points": 9}
    plane = {"kind": "plane", "normal": "z", "at": 200, "points": [9, 7]}
    what = ["raw", "max", "rms"]
    return [
        {"fields": [field, "vx"], "where": line, "what": what, "file": "line.nc"},
        {"fields": ["vz"], "where": plane, "what": what, "file": "plane.nc"},
    ]


def case(medium: str, degree: int, flux: Any, **changes: Any) -> dict[str, Any]:
    """24 elements, and those of damping layers."""
    early = PULSE | {"onset": -0.02}  # so that the run starts before time 0
    force = {"kind": "force", "force": [1e9, 2e9, -1e9], **at(FACE), "time_function": early}
    explosion = {"kind": "explosion", "magnitude": 3, **at(CORNER), "time_function": PULSE}
    lowest = 390 if "topography" in changes else 400  # below valleys, the bottom is less deep
    return {
        "solver": "dgwave",
        "grid": {"size": [800, 600, 400], "spacing": 200},
        "time": {"duration": 0.16, "step": 0.004},
        "medium": MEDIA[medium],
        "method": {"degree": degree, "flux": flux},
        "boundary": {"width": 2},
        "source": [force, explosion],
        "receiver": [
            {"name": f"R{n}", "kind": KINDS[n % 3], **at((x, y, min(z, lowest)))}
            for n, (x, y, z) in enumerate(RECEIVERS)
        ],
        "output": {
            "seismograms": {"interval": 0.008},
            "record": records("p" if medium == "water" else "szz"),
            "final_fields": True,
            "shaking_map": True,
            "surface": {"interval": 0.02, "stride": 2},
            "volumes": {"interval": 0.08},
        },
        **changes,
    }


def mesh_file() -> Path:
    """A file with 24 elements in any order and orientation, bent inside."""

    def bend(points: Any) -> Any:
        x, y, z = np.moveaxis(points, -1, 0)
        lift = np.sin(np.pi * x / 800) * np.sin(np.pi * y / 600)
        return np.stack([x, y, z + 60 * lift * z / 400 * (1 - z / 400)], axis=-1)

    box = Box((4, 3, 2), high=(800.0, 600.0, 400.0), order=2)
    mesh = shuffled(box, np.random.default_rng(2))
    points, numbers = numbered(Mesh(mesh.corners, bend(mesh.nodes), 2))
    folder = Path(mkdtemp(prefix="groundswell-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    no_tags = np.zeros((mesh.count, 6), int)
    return save(folder / "a.msh", points, cells_of(numbers, no_tags), {"inside": (1, 3)})


MESH = mesh_file()
GRADED = [[150, 250, 200, 200], 200, [250, 150]]
DEEPENING = {
    "kind": "layered",
    "interpolation": "linear",
    "layers": [
        {"top": 0, **ROCK, "qp": 80, "qs": 40},
        {"top": 400, **ROCK, "vp": 4000, "qp": 90, "qs": 50},
    ],
}
HILLS = {"kind": "formula", "elevation": "60 + 40 * sin(x / 130) * cos(y / 110)"}
VARIANTS = {
    "sea": case("sea", 3, "riemann", run={"precision": "single"}),
    "rock": case("rock", 2, 0.3, boundary={"sides": "periodic"}, run={"precision": "double"}),
    "water": case("water", 3, "central", boundary={"sides": "rigid", "width": 2}, run={}),
    "soft": case(
        "soft",
        2,
        "riemann",
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 8, "levels": 1},
        time={"duration": 0.12, "step": 0.002},
        run={"precision": "single"},
    ),
    "mesh": {
        **case("rock", 3, 0.5, run={"precision": "double"}),
        "grid": {"file": str(MESH), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"inside": ROCK}},
        "boundary": {"surfaces": {"1": "free-surface"}},
    },
    "volumes": {
        **case("rock", 2, 0.5, run={"precision": "single"}),
        "grid": {"file": str(MESH), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"inside": DEEPENING}},
        "boundary": {"surfaces": {"1": {"kind": "sponge", "width": 100}}},
        "method": {"degree": 2, "flux": 0.5, "material": "node"},
        "attenuation": {"model": "power-law", "exponent": 0.4},
    },
    "gradient": case(
        "gradient",
        3,
        0.5,
        method={"degree": 2, "flux": 0.5, "material": "node"},
        refinement={"frequency": 3.2, "levels": 1},
        run={"precision": "single"},
    ),
    "graded": case(
        "soft",
        2,
        "riemann",
        grid={"size": [800, 600, 400], "spacing": GRADED},
        time={"duration": 0.12, "step": 0.002},
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 8, "levels": 1},
        run={"precision": "single"},
    ),
    "hills": case("rock", 3, "riemann", topography=HILLS, run={"precision": "single"}),
    "halved hills": case(
        "soft",
        2,
        0.5,
        topography=HILLS,
        method={"degree": 2, "flux": 0.5, "material": "node"},
        time={"duration": 0.12, "step": 0.002},
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 8, "levels": 1},
        run={"precision": "single"},
    ),
}


@dataclass(frozen=True)
class Run:
    """A variant on several ranks; `options` are others of `[run]`."""

    ranks: int
    variant: str
    transport: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Of its folder."""
        return "-".join([self.variant, self.transport, *map(str, self.options.values())])

    def case(self, **run: Any) -> dict[str, Any]:
        found = VARIANTS[self.variant]
        options = {"overlap": True, "transport": self.transport, **self.options, **run}
        return {**found, "run": {**found["run"], **options}}


# Series, and the kind of receivers that do not record them.
SERIES = {"seismograms.h5:velocity": 1, "pressure.h5:pressure": 0}
# The variants of the quick runs have all features of the others between them.
QUICK = [
    Run(2, "soft", "mpi", {"codec": "mpc"}),
    Run(2, "soft", "auto", {"overlap": "auto"}),
    Run(3, "halved hills", "peer"),
    Run(3, "volumes", "mpi"),
    Run(3, "water", "peer", {"overlap": False}),
]
ROUNDED = [Run(3, "soft", "mpi", {"narrow": "bfloat16"})]
LONG_ROUNDED = [Run(2, "rock", "peer", {"narrow": "float32"})]
LONG = [Run(n, v, t) for n in (2, 3, 5, 8) for v in VARIANTS for t in ("peer", "mpi")]
LONG = [Run(2, "sea", "auto", {"overlap": "auto"}), *(run for run in LONG if run not in QUICK)]
GPU = [Run(2, variant, t) for variant in VARIANTS for t in ("direct", "peer", "nccl", "mpi")]
Ran = Callable[[int, str], Path]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, full: bool) -> Ran:
    """The folder with the results of all cases of so many ranks."""
    on_cpus = [*QUICK, *ROUNDED, *([*LONG, *LONG_ROUNDED] if full else [])]

    @cache
    def run_all(ranks: int, backend: str) -> Path:
        if backend == "cuda" and ranks > gpu_count():
            pytest.skip(f"needs {ranks} GPUs")
        runs = GPU if backend == "cuda" else on_cpus
        alone = {
            v: {**c, "run": {**c["run"], "backend": backend}}
            for v, c in VARIANTS.items()
            if v in {run.variant for run in runs}
        }
        cases = {run.name: run.case(backend=backend) for run in runs if run.ranks == ranks}
        return run_cases(ranks, cases or alone, tmp_path_factory.mktemp(f"{backend}-{ranks}"))

    return run_all


@pytest.mark.parametrize("run", [*QUICK, *long_variants(LONG)], ids=str)
def test_any_number_of_ranks_leaves_the_same_files(ran: Ran, run: Run) -> None:
    found = ran(run.ranks, "cpu") / run.name
    assert_same_results(found, ran(1, "cpu") / run.variant)
    told = json.loads((found / "summary.json").read_text())["ranks"]
    assert told["count"] == run.ranks == len(told["elements"]) and told["bytes_sent_per_step"] > 0
    if run.transport != "auto":
        assert ("stored there directly" in told["transport"]) == (run.transport == "peer")


@pytest.mark.parametrize("run", [*ROUNDED, *long_variants(LONG_ROUNDED)], ids=str)
def test_narrower_traces_change_results_by_their_rounding(ran: Ran, run: Run) -> None:
    """At each receiver, relative to its largest motion, by less than one rounding does."""
    dtype, unit = {"float32": ("f8", 2.0**-24), "bfloat16": ("f4", 2.0**-8)}[run.options["narrow"]]
    folders = (ran(run.ranks, "cpu") / run.name, ran(1, "cpu") / run.variant)
    for name, instrument in SERIES.items():
        count = sum(n % 3 != instrument for n in range(len(RECEIVERS)))
        found, exact = (
            np.frombuffer(result_arrays(folder)[name], dtype).astype(float).reshape(count, -1)
            for folder in folders
        )
        errors = np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)
        assert 0 < errors.max() < unit, f"{name}: {errors / unit} units"


@pytest.mark.parametrize(
    "variant",
    short_and_long(VARIANTS, {*VARIANTS} - {run.variant for run in QUICK}),
)
def test_there_is_something_to_compare(ran: Ran, variant: str) -> None:
    """Every receiver, record and final field has motion."""
    values = result_arrays(ran(1, "cpu") / variant)
    dtype = "f8" if VARIANTS[variant]["run"].get("precision") == "double" else "f4"
    for name, instrument in SERIES.items():
        count = sum(n % 3 != instrument for n in range(len(RECEIVERS)))
        series = np.frombuffer(values[name], dtype).reshape(count, -1)
        assert np.isfinite(series).all() and (np.abs(series).max(axis=1) > 0).all()
    for name in ("shaking_map.nc:pgv", "shaking_map.nc:pga", "surface.nc:velocity"):
        assert np.abs(np.frombuffer(values[name], dtype)).max() > 0
    assert {"line.nc", "plane.nc", "fields.vtkhdf"} <= {name.split(":")[0] for name in values}


# --- stopped runs ---------------------------------------------------------------------------------


# Elements of the small case otherwise than bricks of one size with attenuation and matched layers.
SLOPE = {"topography": {"kind": "formula", "elevation": "100 + x / 20 + 30 * sin(y / 200)"}}
BOX = {"size": [1200, 1200, 900], "spacing": [[500, 300, 400], 300, [300, 200, 400]]}
HALVED = {
    "medium": MEDIA["soft"] | dict.fromkeys(("vp", "vs", "rho", "qp", "qs")),
    "refinement": {"frequency": 5, "levels": 1},
    "time": {"duration": 0.4, "step": 0.004},
}


@pytest.mark.parametrize(
    ("wrote", "resumes", "changes"),
    [
        (2, 1, {}),
        *long_variants(
            [
                (2, 3, SLOPE),
                (2, 1, {"grid": BOX}),
                (1, 3, {}),
                (3, 2, HALVED),
                (2, 5, {}),
                (3, 1, SLOPE),
                (1, 2, HALVED),
            ]
        ),
    ],
)
def test_stopped_runs_continue_on_any_number_of_ranks(
    tmp_path: Path, wrote: int, resumes: int, changes: dict[str, Any]
) -> None:
    """With attenuation and matched layers."""
    case = write_small_case(tmp_path, "dgwave", **changes)
    reference = gs.run(case, folder=tmp_path / "whole").folder
    arguments = ("run", case, "-q", "--no-pictures")
    stopped = run_on_ranks(wrote, INTERRUPTED, "SIGTERM", str(wrote - 1), "40", *arguments)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr.count("stopped by SIGTERM after step") == 1
    never = ("SIGTERM", "-1", "0")
    resumed = run_on_ranks(resumes, INTERRUPTED, *never, *arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert 0 < summary["resumed_at"] < 100 == summary["steps"]
    assert_same_results(tmp_path / "results", reference)


# --- rounding -------------------------------------------------------------------------------------


def long_case(variant: str, precision: str, degree: int) -> DgWaveCase:
    """A variant that does not end soon."""
    content = {**VARIANTS[variant], "time": {"duration": 10.0}, "run": {"precision": precision}}
    content["method"] = {**content["method"], "degree": degree}
    return DgWaveCase.from_dict(content)


def after_steps(case: DgWaveCase, backend: Any, steps: int) -> tuple[dict[str, Any], Any]:
    """All fields after some steps, as a graph of launches makes them, and their largest values."""
    solver = DgWave(prepare(case), backend)
    solver.prepare()
    graph, largest = backend.capture(solver.step, in_graph=solver.in_graph), Counter[str]()
    for _ in range(steps // 10):
        graph.replay(10)
        backend.synchronize()
        arrays = solver.propagation.fields.items()
        fields = {name: backend.to_host(array) for name, array in arrays}
        largest |= Counter({name: np.abs(values).max() for name, values in fields.items()})
    return fields, largest


def require_close(found: Any, expected: Any, largest: Any, tolerance: float) -> None:
    """Compare fields, relative to the largest of velocities and of stresses during the run.

    At the end, waves may have left, and fields be some hundred times smaller than their rounding
    stems from. The stress that an explosion leaves at its place is much larger than that of its
    waves, and so is the rounding of the velocities that its derivatives make.
    """
    kinds = {kind: [name for name in expected if name[0] in kind] for kind in ("v", "sp")}
    scales = {kind: max(largest[name] for name in names) for kind, names in kinds.items()}
    scales["v"] = max(scales["v"], scales["sp"] / IMPEDANCE)
    for kind, names in kinds.items():
        scale = scales[kind]
        difference = max(np.abs(found[name] - expected[name]).max() for name in names)
        assert difference < tolerance * scale, f"{kind}: {difference / scale:.2e}"


@pytest.mark.parametrize("variant", [*long_variants(["rock"]), "water"])
def test_single_precision_without_dissipation(variant: str) -> None:
    """Fluxes that damp little or nothing let rounding stay, and not grow."""
    backend = open_backend("cpu")
    single, _ = after_steps(long_case(variant, "single", 4), backend, 200)
    double, largest = after_steps(long_case(variant, "double", 4), backend, 200)
    require_close(single, double, largest, 2e-6)


# --- on GPUs --------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("run", GPU, ids=str)
def test_two_gpus_leave_the_files_of_one(ran: Ran, run: Run) -> None:
    assert_same_results(ran(run.ranks, "cuda") / run.name, ran(1, "cuda") / run.variant)


@pytest.mark.gpu
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-5), ("double", 1e-12)])
@pytest.mark.parametrize("degree", [2, 4, 7])
def test_cpu_and_gpu_agree(
    gpu: Any, variant: str, precision: str, tolerance: float, degree: int
) -> None:
    case = long_case(variant, precision, degree)
    on_cpu, largest = after_steps(case, open_backend("cpu"), 200)
    on_gpu, _ = after_steps(case, gpu, 200)
    require_close(on_gpu, on_cpu, largest, tolerance)
