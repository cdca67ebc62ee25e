"""DG waves on several ranks and on GPUs: every file is that of one rank, bit by bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_rank_cases import RECEIVERS, VARIANTS
from gpu import gpu_count
from ranks import run_cases
from result_comparison import assert_same_results, result_arrays
from variants import long_variants, short_and_long

from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup import prepare

pytestmark = pytest.mark.timeout(300)


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
    Run(3, "halved hills", "peer"),
    Run(3, "volumes", "mpi"),
    Run(3, "fault outputs", "mpi"),
    Run(3, "water", "peer", {"overlap": False}),
    Run(3, "mesh fault", "peer"),
    Run(2, "yielding mesh fault", "peer"),
]
ROUNDED = [Run(3, "soft", "mpi", {"narrow": "bfloat16"})]
LONG_ROUNDED = [Run(2, "rock", "peer", {"narrow": "float32"})]
LONG = [Run(n, v, t) for n in (2, 3, 5, 8) for v in VARIANTS for t in ("peer", "mpi")]
AUTO = [Run(2, variant, "auto", {"overlap": "auto"}) for variant in ("soft", "sea")]
LONG = [*AUTO, *(run for run in LONG if run not in QUICK)]
GPU = [Run(2, variant, t) for variant in VARIANTS for t in ("direct", "peer", "nccl", "mpi")]
OnRanks = Callable[..., str]
Ran = Callable[[int, str], Path]


@pytest.fixture(scope="module")
def ran(on_ranks: OnRanks, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Ran:
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
        folder = tmp_path_factory.mktemp(f"{backend}-{ranks}")
        return run_cases(on_ranks, ranks, cases or alone, folder)

    return run_all


@pytest.mark.parametrize("variant", [v for v, case in VARIANTS.items() if "refinement" in case])
def test_halved_elements_lie_beside_others(variant: str) -> None:
    """Or no faces would have finer neighbours."""
    setup = prepare(DgWaveCase.from_dict(VARIANTS[variant]))
    assert setup.partition.elements(1, 0).has_levels


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
    maps = ("shaking_map.nc:pgv", "shaking_map.nc:pga", "intensity_maps.nc:rotd50")
    for name in (*maps, "surface.nc:velocity"):
        assert np.abs(np.frombuffer(values[name], dtype)).max() > 0
    if "fault" in VARIANTS[variant]:
        rates = np.frombuffer(values["fault.nc:peak_rate"])
        assert np.isfinite(rates).all() and (rates > 1e-3).mean() > 0.2
    if "plasticity" in VARIANTS[variant]:
        strain = np.frombuffer(values["fields.vtkhdf:VTKHDF/PointData/plastic_strain"])
        assert np.isfinite(strain).all() and 0.01 < (strain > 0).mean() < 0.9
    assert {"line.nc", "plane.nc", "fields.vtkhdf"} <= {name.split(":")[0] for name in values}


# --- on GPUs --------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("run", GPU, ids=str)
def test_two_gpus_leave_the_files_of_one(ran: Ran, run: Run) -> None:
    assert_same_results(ran(run.ranks, "cuda") / run.name, ran(1, "cuda") / run.variant)
