"""Input files of k-Wave as cases: the same pressure, and one message where that is impossible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from kwave_files import Example
from numpy.typing import NDArray

import groundswell
from groundswell.case import load_case
from groundswell.cli import main
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.kwave.command import main_omp
from groundswell.solvers.ultrasound.kwave.convert import convert

SPACE, PLANE = (12, 14, 18), (1, 16, 15)
TOLERANCE = 1e-5  # of the largest pressure, in single precision
RNG = np.random.default_rng(23)


def varying(shape: tuple[int, ...], value: float) -> NDArray[np.float64]:
    return value * (1 + 0.1 * RNG.uniform(-1, 1, shape))


def example(shape: tuple[int, int, int], **more: Any) -> Example:
    return Example(shape, pml_alpha=(2.0, 2.0, 2.0), points=np.array([100, 7, 33]), **more)


def points(shape: tuple[int, ...], count: int = 5) -> NDArray[np.int64]:
    return RNG.choice(int(np.prod(shape)), count, replace=False)


def in_a_plane(shape: tuple[int, int, int]) -> NDArray[np.int64]:
    """Points across y, whose scale depends on the spacing along y."""
    nz, _, nx = shape
    places = np.meshgrid(np.arange(2, nz - 2), [5], np.arange(3, nx - 3), indexing="ij")
    return np.ravel_multi_index([each.ravel() for each in places], shape)


def pressures(shape: tuple[int, ...]) -> NDArray[np.float64]:
    return 1e5 * RNG.standard_normal(shape)


def heterogeneous(shape: tuple[int, int, int], **more: Any) -> Example:
    properties = {"speed": varying(shape, 1500.0), "density": varying(shape, 1000.0)}
    return example(shape, alpha=varying(shape, 3.0), **properties, **more)


def signals(samples: int, count: int) -> NDArray[np.float64]:
    return RNG.standard_normal((samples, count))


EXAMPLES = {
    "initial pressure": example(SPACE, p0=pressures(SPACE)),
    "medium": heterogeneous(
        SPACE, p0=pressures(SPACE), absorbing=1, nonlinearity=varying(SPACE, 6.0)
    ),
    "additive": heterogeneous(
        SPACE, absorbing=2, sources=[("p", points(SPACE), signals(9, 5), "additive")]
    ),
    "plane of sources": heterogeneous(
        SPACE,
        sources=[("p", in_a_plane(SPACE), RNG.standard_normal(9), "uncorrected")],
    ),
    "velocities": heterogeneous(
        SPACE,
        sources=[
            (f"u{axis}", np.arange(500, 505), 1e-3 * signals(7, 5), "additive") for axis in "xyz"
        ],
    ),
    "dirichlet": heterogeneous(SPACE, sources=[("p", points(SPACE), signals(6, 5), "dirichlet")]),
    "dirichlet velocity": example(
        SPACE, sources=[("uy", points(SPACE), RNG.standard_normal(6), "dirichlet")]
    ),
    "transducer": example(
        SPACE,
        transducer=(points(SPACE, 6), np.array([2, 0, 4, 2, 1, 0]), RNG.standard_normal(8)),
    ),
    "initial pressure and sources": example(
        PLANE,
        p0=pressures(PLANE),
        sources=[("p", points(PLANE), 1e-4 * signals(20, 5), "additive")],
    ),
    "cuboids": example(PLANE, p0=pressures(PLANE), cuboids=[(2, 3, 1, 9, 5, 1)]),
}


def final_pressure(folder: Path) -> NDArray[Any]:
    arguments = ["-i", str(folder / "in.h5"), "-o", str(folder / "out.h5"), "--p_final"]
    assert main_omp(arguments) == 0
    with h5py.File(folder / "out.h5") as file:
        return np.asarray(file["p_final"])


@pytest.mark.most(5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_converted_case_has_the_same_pressure(tmp_path: Path, name: str) -> None:
    EXAMPLES[name].write(tmp_path / "in.h5")
    paths = convert(tmp_path / "in.h5", tmp_path / "case.toml")
    assert paths[0] == tmp_path / "case.toml" and all(path.is_file() for path in paths)
    with groundswell.Simulation(tmp_path / "case.toml") as simulation:
        simulation.advance()
        found = np.array(simulation.fields["p"])
    wanted = final_pressure(tmp_path)
    assert np.abs(wanted).max() > 0
    assert np.abs(found - wanted).max() < TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize("name", ["additive", "cuboids"])
def test_a_converted_case_records_the_sensors(tmp_path: Path, name: str) -> None:
    """Samples of the case begin with the state at time 0, and end before the last state."""
    EXAMPLES[name].write(tmp_path / "in.h5")
    convert(tmp_path / "in.h5", tmp_path / "case.toml")
    assert main_omp(["-i", str(tmp_path / "in.h5"), "-o", str(tmp_path / "out.h5")]) == 0
    records = groundswell.run(tmp_path / "case.toml").records
    (found,) = (np.asarray(each["p"]) for each in records.values())
    with h5py.File(tmp_path / "out.h5") as file:
        series = file["p/1"] if name == "cuboids" else file["p"]
        wanted = np.asarray(series)
    if name == "cuboids":  # the initial pressure is the end of step 1 in k-Wave
        assert np.abs(found - wanted[:-1]).max() < TOLERANCE * np.abs(wanted).max()
    else:  # cases sort the points
        order = np.argsort(EXAMPLES[name].points)
        assert np.abs(found[1:] - wanted[0, :-1, order].T).max() < TOLERANCE * np.abs(wanted).max()


def test_the_command_writes_a_case_that_check_accepts(tmp_path: Path, capsys: Any) -> None:
    source = EXAMPLES["medium"].write(tmp_path / "in.h5")
    case = tmp_path / "new.toml"
    assert main(["convert", str(source), str(case)]) == 0
    assert "new-medium.nc, new-initial.npy, new-sensors.npy" in capsys.readouterr().out
    assert load_case(case).solver == "ultrasound"
    assert main(["check", str(case)]) == 0
    assert main(["convert", str(source), str(case)]) == 2
    assert "new.toml exists already" in capsys.readouterr().err
    assert main(["convert", str(case)]) == 2
    assert 'no installed solver writes ".toml" files as cases' in capsys.readouterr().err


STEEP = np.full(PLANE, 1000.0)
STEEP[0, 6:9, 5:9] = 1.2
REFUSED: dict[str, tuple[Example, dict[str, Any], str]] = {
    "strengths": (
        Example(PLANE, p0=pressures(PLANE)),
        {},
        "one strength of absorbing layers, above 0, but the pml alphas differ",
    ),
    "convection": (
        example(PLANE, p0=pressures(PLANE), nonlinearity=0.0),
        {},
        "nonlinear_flag = 1 with BonA = 0",
    ),
    "densities": (
        heterogeneous(PLANE, p0=pressures(PLANE)),
        {"rho0_sgy": np.full(PLANE, 1000, np.float32)},
        "rho0_sgy is not the mean of two neighbours of rho0",
    ),
    "one step": (example(PLANE, p0=pressures(PLANE), steps=1), {}, "is its only step"),
    "nothing": (example(PLANE), {}, "source: is required"),
    "small grid": (example((1, 6, 30), p0=pressures((1, 6, 30))), {}, "has 6 points"),
    "unstable": (
        example(PLANE, p0=pressures(PLANE), density=STEEP),
        {"dt": np.float32(3e-7)},
        "is unstable with",
    ),
    "one value": (
        example(PLANE, sources=[("p", points(PLANE), signals(1, 5), "dirichlet")]),
        {},
        "sets values in one step only",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_case_cannot_express_is_refused(tmp_path: Path, name: str) -> None:
    """One message names the reason, and no file remains."""
    of, changes, message = REFUSED[name]
    of.write(tmp_path / "in.h5", changes)
    with pytest.raises(InputError) as error:
        convert(tmp_path / "in.h5", tmp_path / "case.toml")
    assert message in str(error.value) and "cannot be written as a case" in str(error.value)
    assert {path.name for path in tmp_path.iterdir()} == {"in.h5"}
