"""The kernels of the wave and flow solvers through NVRTC, as in test_cuda_compiles.py."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from compiled_kernels import Check
from dg_register_limits import CURVED_LIMITS, DG_LIMITS, LONG_DG, MORE, NODAL_LIMITS
from register_limits import (
    FUSED_LIMITS,
    FUSED_SPILLS,
    HOT_LIMITS,
    LIMITS,
    SOLID_SPILLS,
    SPILLS,
    STORAGE_LIMITS,
    TERMS_SPILLS,
)
from source_collector import (
    cavity_sources,
    dgwave_source,
    fault_sources,
    fused_sources,
    solver_sources,
    ultrasound_sources,
    yielding_sources,
)
from variants import long_variants, short_and_long

from groundswell.seismology.intensity.maps import maps_source
from groundswell.seismology.intensity.spectra import spectra_source
from groundswell.solvers.dgwave.recording.intensity import intensity_source
from groundswell.solvers.dgwave.recording.surface import surface_source
from groundswell.solvers.earthquake.plasticity.rank import GPU_SIZES
from groundswell.solvers.ultrasound.kwave.velocities import shift_source

pytestmark = pytest.mark.each_value


VARIANTS = [*product(("pml", "sponge", "periodic"), ("free-surface", "absorbing"), (True, False))]


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("sides", "top", "q"), VARIANTS)
def test_the_solvers_kernels(check: Check, precision: str, sides: str, top: str, q: bool) -> None:
    for source in solver_sources(precision, sides, top, q):
        check(source, precision, LIMITS | HOT_LIMITS[sides])


@pytest.mark.parametrize(
    ("memory", "materials"), [("half", "cells"), ("full", "classes"), ("half", "classes")]
)
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
def test_kernels_with_fewer_bytes(check: Check, sides: str, memory: str, materials: str) -> None:
    limits, storage = LIMITS | STORAGE_LIMITS[sides], {"memory": memory, "materials": materials}
    for precision in ("single", "double") if memory == "full" else ("single",):
        for source in solver_sources(precision, sides, "free-surface", q=True, **storage):
            check(source, precision, limits)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("cohesion", ["1e6 + 1e3 * depth", "1e6 + x"])
@pytest.mark.parametrize("materials", ["cells", "classes"])
def test_kernels_of_rock_that_yields(
    check: Check, precision: str, cohesion: str, materials: str
) -> None:
    rock = {"cohesion": cohesion, "friction_angle": 30.0, "relaxation_time": 0.03}
    rock["model"] = "drucker-prager"
    sources = solver_sources(
        precision, "pml", "free-surface", True, plasticity=rock, materials=materials
    )
    [found] = (source for source in sources if source.path.name == "plasticity.h")
    for strength in {found.constants["STRENGTH"], 2}:
        constants = {**found.constants, **GPU_SIZES, "PEAKS": True, "STRENGTH": strength}
        source = replace(found, constants=constants)
        check(source, precision, LIMITS)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
@pytest.mark.parametrize("materials", ["cells", "classes"])
def test_kernels_of_soft_soil(check: Check, precision: str, top: str, materials: str) -> None:
    soil = {"model": "iwan", "depth": 1e3, "reference_strain": 1e-3}
    sources = solver_sources(precision, "pml", top, True, plasticity=soil, materials=materials)
    [found] = (source for source in sources if source.path.name == "soil.h")
    check(found, precision, LIMITS)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
def test_the_update_of_stresses_that_keeps_peaks(check: Check, precision: str, sides: str) -> None:
    source = solver_sources(precision, sides, "free-surface", True)[0]
    keeping = replace(source, constants={**source.constants, "PEAKS": True})
    check(keeping, precision, LIMITS | HOT_LIMITS[sides])


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_cavitys_kernels(check: Check, precision: str) -> None:
    for source in (*cavity_sources(precision, local=True), *cavity_sources(precision, local=False)):
        check(source, precision)
    for source in cavity_sources(precision, local=True, unsteady=True, heat=True):
        check(source, precision)
    block = {"low": [0.3] * 3, "high": [0.6] * 3, "conductivity": 3.0, "heat_capacity": 2.0}
    for source in cavity_sources(precision, local=True, unsteady=True, solids=[block]):
        check(source, precision, LIMITS, SOLID_SPILLS)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_cavitys_kernels_on_a_stretched_grid(check: Check, precision: str) -> None:
    """The coefficients of three axes take more registers."""
    stretching = {"x": 1.5, "y": 1.0, "z": 2.0}
    names = ("advance", "advance_first", "find_rates")
    limits = LIMITS | dict.fromkeys(names, (112, 128))
    spills = SPILLS | dict.fromkeys(names, 48)
    for source in cavity_sources(precision, local=True, heat=True, stretching=stretching):
        check(source, precision, limits, spills)
    block = {"low": [0.3] * 3, "high": [0.6] * 3, "conductivity": 3.0}
    spills |= dict.fromkeys(names, 112)  # rare flows, and only in double precision
    for source in cavity_sources(precision, local=True, stretching=stretching, solids=[block]):
        check(source, precision, limits, spills)


@pytest.mark.parametrize("heterogeneous", [True, False])
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_k_space_schemes_kernels(
    check: Check, dtype: str, precision: str, heterogeneous: bool
) -> None:
    for source in ultrasound_sources(dtype, heterogeneous=heterogeneous):
        check(source, precision)
    for source in ultrasound_sources(dtype, heterogeneous=True, in_classes=True):
        check(source, precision)
    check(shift_source(dtype, (16, 12, 9)), precision)


@pytest.mark.parametrize("upwind", short_and_long([1.0, 0.3], [0.3]))
@pytest.mark.parametrize(("degree", "elastic"), short_and_long(DG_LIMITS, LONG_DG))
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernels_of_dg_waves(
    check: Check, dtype: str, precision: str, degree: int, elastic: bool, upwind: float
) -> None:
    registers, spills = DG_LIMITS[degree, elastic]
    column = ("single", "double").index(precision)
    source = dgwave_source(dtype, degree, elastic=elastic, upwind=upwind)
    check(source, precision, {**LIMITS, "advance": registers}, {"advance": spills[column]})


@pytest.mark.parametrize(("degree", "elastic"), short_and_long(DG_LIMITS, LONG_DG))
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
@pytest.mark.parametrize("term", [{"mechanisms": 3}, {"matched": True}], ids=str)
def test_variants_of_dg_waves_take_few_more_registers(
    check: Check, dtype: str, precision: str, degree: int, elastic: bool, term: dict[str, Any]
) -> None:
    registers, spills = DG_LIMITS[degree, elastic]
    column = ("single", "double").index(precision)
    [(more, spilled)] = (MORE[name] for name in term)
    most = tuple(n + more for n in registers)
    source = dgwave_source(dtype, degree, elastic=elastic, upwind=1.0, **term)
    check(source, precision, {**LIMITS, "advance": most}, {"advance": spills[column] + spilled})


@pytest.mark.parametrize(("degree", "elastic"), short_and_long(NODAL_LIMITS, LONG_DG))
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernels_of_nodal_materials(
    check: Check, dtype: str, precision: str, degree: int, elastic: bool
) -> None:
    registers, spills = NODAL_LIMITS[degree, elastic]
    column = ("single", "double").index(precision)
    source = dgwave_source(dtype, degree, elastic=elastic, upwind=1.0, nodal=True)
    check(source, precision, {**LIMITS, "advance": registers}, {"advance": spills[column]})


@pytest.mark.parametrize(("degree", "elastic"), short_and_long(CURVED_LIMITS, LONG_DG))
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
@pytest.mark.parametrize("mortars", [False, True])
def test_the_kernels_of_curved_elements(
    check: Check, dtype: str, precision: str, degree: int, elastic: bool, mortars: bool
) -> None:
    registers, spills = CURVED_LIMITS[degree, elastic]
    column = ("single", "double").index(precision)
    source = dgwave_source(dtype, degree, elastic=elastic, upwind=1.0, curved=True, mortars=mortars)
    limits = {**LIMITS, "store_traces": (36, 48), "advance": registers}
    check(source, precision, limits, {"advance": spills[column]})


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernel_of_the_surface_of_dg_waves(check: Check, dtype: str, precision: str) -> None:
    check(surface_source(dtype), precision)


@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_intensity_measures(check: Check, precision: str, top: str) -> None:
    dtype = {"single": "float32", "double": "float64"}[precision]
    for source in (intensity_source(dtype), maps_source(dtype)):
        check(source, precision)
    step = next(s for s in solver_sources(precision, "pml", top, True) if s.path.name == "step.h")
    check(replace(step, path=step.path.with_name("intensity.h")), precision)
    check(spectra_source(), "double")


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_flux_at_faults(check: Check, dtype: str, precision: str, curved: bool) -> None:
    for source in fault_sources(dtype, curved=curved):
        # Spilled on sm_80 by fast velocity weakening; few threads run this kernel.
        check(source, precision, {**LIMITS, "slide": (144, 144)}, {"slide": 72})


@pytest.mark.parametrize("nodal", [True, False])
@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernel_of_yielding_rock(
    check: Check, dtype: str, precision: str, curved: bool, nodal: bool
) -> None:
    for degree in (4, 15):
        for source in yielding_sources(dtype, degree, curved=curved, nodal=nodal):
            check(source, precision)


@pytest.mark.parametrize("nodal", [True, False])
@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_kernels_of_mortars(
    check: Check, dtype: str, precision: str, elastic: bool, curved: bool, nodal: bool
) -> None:
    options: dict[str, Any] = {"elastic": elastic, "curved": curved, "nodal": nodal}
    for degree in (4, 15):
        source = dgwave_source(dtype, degree, upwind=1.0, file="mortars.h", **options)
        check(source, precision)


@pytest.mark.parametrize(
    "kind",
    [
        *("lossless", "lossless classes", "power law", "classes", "terms", "all"),
        *long_variants(["sources", "overlaps"]),
    ],
)
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "single"), ("float64", "double")])
def test_the_fused_k_space_steps_kernels(
    check: Check, dtype: str, precision: str, kind: str
) -> None:
    for source in fused_sources(dtype, kind):
        check(source, precision, FUSED_LIMITS, TERMS_SPILLS if kind == "terms" else FUSED_SPILLS)
