"""Kernels through NVRTC, which needs no GPU: they compile, keep to their registers, spill none."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from compiled_kernels import Check, kernels_of
from friction_points import NUMBERS
from friction_points import source as friction_source
from register_limits import (
    FUSED_LIMITS,
    GAUSS_LIMITS,
    GAUSS_SPILLS,
    HOT_LIMITS,
    LIMITS,
    OF_SEVERAL_SPILLS,
    POISSON_LIMITS,
)
from sample_kernels import KERNELS, contraction_source, stencil_source
from source_collector import SourceCollector, assembly_sources
from split_nodes import GIVEN

import groundswell
from groundswell.backends import Source
from groundswell.compression.mpc import mpc_source
from groundswell.compression.zfp import zfp_source
from groundswell.exchange.boxes import SOURCE as EXCHANGE
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.gather_scatter.transfers import peer_rows_source
from groundswell.grids.cartesian import Part
from groundswell.linear.cg import cg_ranks_source
from groundswell.linear.chebyshev import chebyshev_source
from groundswell.linear.operators import convert_source
from groundswell.linear.sparse import WARP, sparse_source
from groundswell.outputs.launches import recorder_source
from groundswell.seismology.green.recording import sums_source
from groundswell.seismology.green.synthesis import SHAPES, synthesis_source
from groundswell.simulation.finite_check import search_source
from groundswell.solvers.dgwave.benchmarks.problems import TABLE_2, Configuration, cubes, discretise
from groundswell.solvers.dgwave.recording.green import loads_source
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.fault_slip import RankGrid, fault_source
from groundswell.solvers.earthquake.faults.window import FaultWindow
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.poisson.benchmarks.speed import ROOFLINE
from groundswell.solvers.poisson.element_operator import (
    DEFAULTS,
    METRICS,
    element_constants,
    operator_source,
    sides_source,
)
from groundswell.solvers.poisson.element_operator import KERNELS as OPERATOR_KERNELS
from groundswell.solvers.poisson.fused_cg import (
    ADVANCE_LIMIT,
    SUM_LANES,
    SWEEP_LIMIT,
    fused_cg_source,
)
from groundswell.solvers.poisson.grid_transfer import transfer_source
from groundswell.solvers.poisson.roofline import CYCLE
from groundswell.solvers.poisson.schwarz import schwarz_source
from groundswell.solvers.poisson.step_kernels import step_source
from groundswell.spectral_elements.element_kernels import multiply_source
from groundswell_rivals.dgwave.ghost_exchange import pack_source
from groundswell_rivals.dgwave.ladder import F1S, VERSIONS, ladder_source
from groundswell_rivals.exchange.slow_link import Link, LinkedBackend
from groundswell_rivals.poisson.gauss_operator import (
    MASS,
    STIFFNESS,
    gauss_source,
    tabulate_source,
)
from waiting_blocks import SOURCE as WAITING

pytestmark = pytest.mark.each_value


def triad_source() -> Source:
    backend = SourceCollector()
    backend.measure_bandwidth(megabytes=1, repeats=1)
    return backend.sources[0]


def test_the_exchanges_kernels(check: Check) -> None:
    check(Source(EXCHANGE, {}), "single")


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_recorders_kernels(check: Check, dtype: str, precision: str) -> None:
    check(recorder_source(dtype), precision)
    check(recorder_source(dtype, harmonics=True), precision)
    check(search_source(dtype), precision)
    check(search_source(dtype, weighted=True), precision)


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernels_of_green_tensors(check: Check, dtype: str, precision: str) -> None:
    check(sums_source(), "double")
    check(loads_source(dtype), precision)
    for shape in SHAPES:
        check(synthesis_source(shape, dtype), precision)


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_assemblys_kernels(check: Check, dtype: str, precision: str) -> None:
    for source in (*assembly_sources(dtype), peer_rows_source(dtype, "sum")):
        check(source, precision)


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_conjugate_gradients_kernels(check: Check, dtype: str, precision: str) -> None:
    check(cg_ranks_source(dtype), precision)
    for scaled, (room, advanced) in product(
        (False, True), ((SWEEP_LIMIT, 0), (ADVANCE_LIMIT, CYCLE))
    ):
        check(fused_cg_source(dtype, **room, SCALED=scaled, ADVANCED=advanced), precision)
    check(fused_cg_source(dtype, MAX_THREADS_PER_BLOCK=SUM_LANES), precision)
    check(fused_cg_source(dtype, **SWEEP_LIMIT, INDICES_32_BIT=False), precision)
    check(fused_cg_source(dtype, **ADVANCE_LIMIT, ADVANCED=CYCLE, INDICES_32_BIT=False), precision)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("degree", POISSON_LIMITS)
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_poisson_operators_kernel(
    check: Check, dtype: str, precision: str, degree: int, metric: str
) -> None:
    limits = {**LIMITS, "apply_elements": POISSON_LIMITS[degree]}
    check(operator_source(dtype, degree, 0.1, metric), precision, limits)


@pytest.mark.parametrize("metric", ["straight", "affine"])
@pytest.mark.parametrize("degree", [4, 7, 15])
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_poisson_operators_kernel_with_coefficients(
    check: Check, dtype: str, precision: str, degree: int, metric: str
) -> None:
    """That vary within elements; they may take a few registers more."""
    single, double = POISSON_LIMITS[degree]
    limits = {**LIMITS, "apply_elements": (single + 8, min(double + 8, 255))}
    nodes = (degree + 1) ** 3
    source = operator_source(dtype, degree, 0.1, metric)
    for c in (0, nodes):
        values = {"K_VALUES": nodes, "C_VALUES": c}
        varying = replace(source, constants={**source.constants, **values})
        check(varying, precision, limits)


@pytest.mark.parametrize(("degree", "most"), [(2, 128), (3, 128), (4, 168), (7, 255), (14, 255)])
def test_the_poisson_operators_kernel_for_components(check: Check, degree: int, most: int) -> None:
    source = operator_source("float64", degree, 0.0, "stored", components=3)
    check(source, "double", {"apply_elements": (0, most)}, OF_SEVERAL_SPILLS)


@pytest.mark.parametrize("matrix", [MASS, STIFFNESS])
@pytest.mark.parametrize("degree", GAUSS_LIMITS)
@pytest.mark.parametrize("components", [1, 3])
def test_the_kernels_with_gauss_points(
    check: Check, matrix: str, degree: int, components: int
) -> None:
    source = gauss_source(matrix, "float64", degree, COMPONENTS=components, SCALED=components > 1)
    check(source, "double", {f"apply_gauss_{matrix}": (0, GAUSS_LIMITS[degree])}, GAUSS_SPILLS)
    check(tabulate_source("float64", degree), "double")


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_rest_of_poissons_kernels(check: Check, dtype: str, precision: str) -> None:
    constants = {
        **DEFAULTS,
        **element_constants(dtype, 7, 0.1, on_host=False),
        "GEOMETRY": METRICS["straight"],
    }
    check(Source(OPERATOR_KERNELS / "tabulate_metric.h", constants), precision)
    for scaled in (False, True):
        check(sides_source(dtype, SCALED=scaled), precision)
    check(multiply_source(dtype), precision)
    check(step_source(dtype), precision)
    check(Source(ROOFLINE, {"DOUBLE_PRECISION": 1}), "double")


@pytest.mark.parametrize("configuration", TABLE_2, ids=str)
@pytest.mark.parametrize("degree", [3, 7])
def test_the_kernels_of_the_dg_waves_benchmark(
    check: Check, degree: int, configuration: Configuration
) -> None:
    problem, precision = (
        discretise(configuration, degree, cubes((1, 1, 1))),
        configuration.precision,
    )
    spills = {"volume_and_flux": 160, "flux": 16}
    for version in VERSIONS:
        blocks = 1024 // problem.nodes if version is F1S else 0
        check(ladder_source(problem, version, blocks), precision, LIMITS, spills)
    for whole in (True, False):
        check(pack_source(configuration.dtype, 9 * problem.nodes, 3, whole), precision)


def test_blocks_that_wait(check: Check) -> None:
    check(Source(WAITING, {}), "double", {"wait_a_while": (0, 32)})


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_multigrids_kernels(check: Check, dtype: str, precision: str) -> None:
    check(chebyshev_source(dtype), precision)
    for height in (1, WARP):
        check(sparse_source(dtype, height), precision)
    for (degree, coarser), components in product(pairwise((15, 7, 3, 1)), (1, 3)):
        check(schwarz_source(dtype, degree, components), precision)
        check(transfer_source(dtype, degree, coarser, components), precision)
    for other in ("float32", "float64"):
        check(convert_source(dtype, other), precision)


@pytest.mark.parametrize("number", NUMBERS)
def test_friction(check: Check, number: int) -> None:
    """Alone; the kernels of solvers, which call it, have limits of their own."""
    check(friction_source(number), "double", {"evaluate_friction": (0, 52 if number == 1 else 72)})


@pytest.mark.parametrize("precision", ["single", "double"])
def test_codec_kernels(check: Check, full: bool, precision: str) -> None:
    dtype = {"single": "float32", "double": "float64"}[precision]
    check(mpc_source(dtype), precision)
    for rate in (3, 5, 8, 16, 24, 64) if full else (5, 16, 24):
        check(zfp_source(dtype, rate), precision)


@pytest.mark.full
def test_kernels_over_a_slower_link() -> None:
    backend = SourceCollector()
    linked: Any = LinkedBackend(backend, Link(1e9))
    compile_kernels(linked)
    linked.compile(peer_rows_source("float64", "sum"))
    assert len({source.path for source in backend.sources}) == 2
    for source in backend.sources:
        assert "#define SIGNAL_ARRIVALS signal_arrivals_over_link" in source.text()
        assert "set_link" in {found.kernel for found in kernels_of(source.text(), "sm_90")}


@pytest.mark.parametrize("precision", ["single", "double"])
def test_toys_and_triad(check: Check, precision: str) -> None:
    dtype = {"single": "float32", "double": "float64"}[precision]
    for source in (
        stencil_source(dtype, (64, 32, 16)),
        contraction_source(dtype, 8),
        triad_source(),
    ):
        check(source, precision)


def test_a_limit_can_be_exceeded(check: Check) -> None:
    """The compiler's report reaches the check."""
    with pytest.raises(AssertionError, match=r"laplacian: \d+ registers, limit 8"):
        check(stencil_source("float32", (64, 32, 16)), "single", {"laplacian": (8, 8)})


def test_no_kernel_of_the_package_is_left_out() -> None:
    rivals = Path(__file__).parents[3] / "benchmarks" / "groundswell_rivals"
    package = Path(groundswell.__file__).parent
    headers = [*package.rglob("*.h"), *rivals.rglob("*.h"), *KERNELS.glob("*.h")]
    text = "\n".join(path.read_text() for path in headers if path.name != "portable.h")
    names = set(re.findall(r"^KERNEL (\w+)\(", text, re.MULTILINE))
    assert names == {*LIMITS, *HOT_LIMITS["pml"], *FUSED_LIMITS, *GAUSS_SPILLS, "apply_elements"}


@pytest.mark.parametrize("law", NUMBERS)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_kernels_of_faults_on_the_staggered_grid(
    check: Check, precision: str, law: int
) -> None:
    setup = prepare(EarthquakeCase(**{**GIVEN, "run": {"precision": precision}}))
    grid = RankGrid(Part.whole(setup.grid), setup.dtype, setup.dt, 0.0)
    window = FaultWindow.of(setup.faults[0].plane, grid.part)
    assert window is not None
    source = fault_source(setup.faults[0], window, grid, window.points)
    check(replace(source, constants={**source.constants, "FRICTION": law}), precision)
