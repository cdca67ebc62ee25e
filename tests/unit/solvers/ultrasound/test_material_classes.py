"""Materials in a table: the classes of points, and steps that equal those with fields."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from kspace_problems import ALPHA, EVERY, SPACE, Problem, operators_of
from kwave_files import Example

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.simulation import material_classes
from groundswell.solvers.ultrasound.fields import Fields
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.line_transforms import supports
from groundswell.solvers.ultrasound.material_classes import MaterialClasses
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.point_source import Injection
from groundswell.solvers.ultrasound.propagation import Propagation

STEPS = 2  # the second reads what the first has written
PROBLEMS = {
    "lossless": Problem(SPACE),
    "power law, nonlinear": Problem(SPACE, alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "absorption alone": Problem(SPACE, alpha=ALPHA, power=1.5, disperses=False),
    "dispersion alone": Problem(SPACE, alpha=ALPHA, power=1.5, absorbs=False),
    "thermoviscous, sources": Problem((12, 9, 16), alpha=1e-15, nonlinearity=5.0, modes=EVERY),
    "plane": Problem((1, 16, 18), alpha=ALPHA, power=1.5, nonlinearity=6.0),
}


def of_materials(medium: AcousticMedium, count: int, dtype: str) -> AcousticMedium:
    """A medium of so many random materials, at random points with runs along x."""
    rng = np.random.default_rng(count)
    given = {name: getattr(medium, name) for name in PROPERTIES}
    varying = {name: np.ravel(v)[:count] for name, v in given.items() if np.ndim(v) > 0}
    chosen = np.sort(rng.integers(0, count, np.shape(medium.speed)), axis=-1)
    return replace(medium, **{name: v.astype(dtype)[chosen] for name, v in varying.items()})


def turned(medium: AcousticMedium) -> AcousticMedium:
    """The medium with its axes in reverse order, as views that are not contiguous."""
    given = {name: getattr(medium, name) for name in PROPERTIES}
    return replace(medium, **{name: v.T for name, v in given.items() if np.ndim(v) > 0})


# --- classes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "dtype"), [(2, "uint8"), (256, "uint8"), (257, "uint16")])
def test_classes_have_the_properties_of_the_points(count: int, dtype: str) -> None:
    problem = PROBLEMS["power law, nonlinear"]
    medium = turned(of_materials(problem.medium(), count, "float32"))
    found = MaterialClasses.of(medium)
    assert found is not None and found.numbers.dtype == dtype and found.count == count
    for name in PROPERTIES:
        column, wanted = getattr(found.table, name), getattr(medium, name)
        assert column.dtype == wanted.dtype and np.array_equal(column[found.numbers], wanted)


def test_a_class_has_only_properties_that_vary() -> None:
    medium = replace(of_materials(Problem(SPACE).medium(), 5, "float32"), density=1000.0)
    found = MaterialClasses.of(medium)
    assert found is not None and found.table.density == 1000.0 and found.count == 5
    assert MaterialClasses.of(AcousticMedium(1500.0, 1000.0)) is None


def test_properties_of_other_types_keep_their_bits() -> None:
    """Files of k-Wave have absorption in double and other properties in single precision."""
    medium = of_materials(PROBLEMS["power law, nonlinear"].medium(), 7, "float32")
    medium = replace(medium, absorption=np.float64(medium.absorption) / 3)
    found = MaterialClasses.of(medium)
    assert found is not None and found.table.absorption.dtype == np.float64  # type: ignore
    assert np.array_equal(found.table.absorption[found.numbers], medium.absorption)  # type: ignore


def test_a_part_of_a_medium_keeps_the_equations_of_the_whole() -> None:
    whole = of_materials(PROBLEMS["power law, nonlinear"].medium(), 5, "float32")
    part = replace(whole, absorption=0.0, nonlinearity=0.0, lossy=True, nonlinear=True)
    found = MaterialClasses.of(part)
    assert found is not None
    assert found.table.is_nonlinear and found.table.is_absorbing and found.table.is_dispersive


# --- steps ----------------------------------------------------------------------------------------


def assert_same(found: list[list[Any]], backend: Backend) -> None:
    for fields, others in zip(*found, strict=True):
        values = backend.to_host(fields)
        assert np.isfinite(values).all() and values.any()
        assert values.tobytes() == backend.to_host(others).tobytes()


def medium_of(problem: Problem, count: int, dtype: str, variant: str) -> AcousticMedium:
    medium = of_materials(problem.medium(), count, dtype)
    if variant == "turned":
        reverse = replace(problem, shape=problem.shape[::-1])
        return turned(of_materials(reverse.medium(), count, dtype))
    if variant == "given densities":
        axes = range(3 if problem.shape[0] > 1 else 2)
        return replace(medium, staggered=[medium.staggered_density(axis) for axis in axes])
    return replace(medium, density=1000.0) if variant == "uniform density" else medium


VARIANTS = ("", "turned", "given densities", "uniform density")


def check_propagation(
    backend: Backend, problem: Problem, dtype: str, count: int, variant: str = ""
) -> None:
    """Steps of a propagation with and without classes, from an initial pressure."""
    medium, found = medium_of(problem, count, dtype, variant), []
    pressure = 1e5 * np.random.default_rng(4).standard_normal(problem.shape)
    sources = problem.sources()
    for in_classes in (False, True):
        stored = replace(medium, in_classes=in_classes)
        sound = Propagation(backend, operators_of(problem), stored, dtype, sources)
        sound.start(pressure)
        for _ in range(STEPS):
            sound.step()
        found.append([sound.p, *sound.u, *sound.rho])
    assert_same(found, backend)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [6, 280])
@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_are_those_of_fields_bit_by_bit(name: str, count: int, dtype: str) -> None:
    check_propagation(open_backend("cpu"), PROBLEMS[name], dtype, count)


@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_any_density_gives_the_steps_of_fields(variant: str) -> None:
    check_propagation(open_backend("cpu"), PROBLEMS["lossless"], "float32", 6, variant)


def check_fused(
    backend: Backend, problem: Problem, dtype: str, count: int, variant: str = ""
) -> None:
    """Fused steps with and without classes, from random fields."""
    medium, found = medium_of(problem, count, dtype, variant), []
    start = 1e3 * np.random.default_rng(5).standard_normal((7, *problem.shape))
    sources = problem.sources()
    for in_classes in (False, True):
        arrays = [backend.to_device(values.astype(dtype)) for values in start]
        fields = Fields(arrays[0], arrays[1:4], arrays[4:])
        inject = Injection(open_backend("cpu") if backend.on_host else backend, dtype)
        stored = replace(medium, in_classes=in_classes)
        step = FusedStep(backend, operators_of(problem), stored, fields, sources, inject)
        in_order(step.begin)()
        for _ in range(STEPS):
            in_order([*step.launches, inject.advance])()
        found.append(arrays)
    assert_same(found, backend)


FUSED = [name for name, problem in PROBLEMS.items() if supports(problem.shape)]
EMULATED = [
    ("lossless", "float32", 6, ""),
    ("lossless", "float64", 280, "turned"),
    *(
        pytest.param(*each, marks=pytest.mark.full)
        for each in (
            ("lossless", "float32", 6, "given densities"),
            ("lossless", "float32", 6, "uniform density"),
            *((name, "float32", 6, "") for name in FUSED[1:]),
        )
    ),
]


@pytest.mark.parametrize(("name", "dtype", "count", "variant"), EMULATED)
def test_fused_steps_on_an_emulated_gpu_are_those_of_fields(
    name: str, dtype: str, count: int, variant: str
) -> None:
    check_fused(EmulatedBackend(), PROBLEMS[name], dtype, count, variant)


@pytest.mark.gpu
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("count", [6, 280])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_on_a_gpu_are_those_of_fields(
    gpu: Any, name: str, dtype: str, count: int, variant: str
) -> None:
    """Fused steps and, of the plane, steps with the transforms of the library."""
    check_propagation(gpu, PROBLEMS[name], dtype, count, variant)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["lossless", "power law, nonlinear"])
def test_larger_steps_on_a_gpu_are_those_of_fields(gpu: Any, name: str) -> None:
    problem = replace(PROBLEMS[name], shape=(64, 60, 96))
    check_propagation(gpu, problem, "float32", 280)


# --- the limit ------------------------------------------------------------------------------------


def test_a_medium_of_too_many_materials_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material_classes, "MOST", 100)
    medium = of_materials(Problem(SPACE).medium(), 101, "float32")
    with pytest.raises(material_classes.InputError, match="more than 100 different materials"):
        MaterialClasses.of(medium)


# --- files of k-Wave ------------------------------------------------------------------------------


def test_a_file_of_k_wave_has_the_results_of_fields(tmp_path: Path) -> None:
    """Its densities at velocity points remain fields."""
    medium = of_materials(PROBLEMS["lossless"].medium(), 9, "float32")
    pressure = 1e5 * np.random.default_rng(6).standard_normal(SPACE)
    points = np.arange(0, pressure.size, 7)
    example = Example(SPACE, medium.speed, medium.density, p0=pressure, points=points)
    example.write(tmp_path / "in.h5")
    found = []
    for materials in ("cells", "classes"):
        case = KWaveCase(file=tmp_path / "in.h5", run={"materials": materials})
        found.append(gs.run(case, folder=tmp_path / materials, quiet=True).samples["p"])
    assert np.any(found[0]) and found[0].tobytes() == found[1].tobytes()
