"""k-Wave's input files: which are refused, and what the messages say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from kwave_files import HEADER, Example, as_dataset

from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.simulation.preparation import open_solver, prepare
from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.kwave.input_file import read_input

SPACE = (12, 14, 18)
FIRST = as_dataset([1])
BAD_DATASETS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"c0": None}, "the dataset c0 is missing"),
    "wrong type": ({"Nx": np.float32(12)}, "Nx has the type float32, but unsigned 64-bit"),
    "wrong size": ({"c0": np.ones(7, np.float32)}, "c0 has 7 values, but 3024 are needed"),
    "not finite": ({"rho0": np.float32(np.nan)}, "rho0 contains values that are not finite"),
    "negative speed": ({"c0": np.float32(-1)}, "c0 contains -1; values must exceed 0"),
    "zero step": ({"dt": np.float32(0)}, "dt = 0.0, but it must be finite and larger than 0"),
    "infinite step": ({"dt": np.float32(np.inf)}, "dt = inf, but it must be finite"),
    "no steps": ({"Nt": 0}, "Nt = 0, allowed are 1 to"),
    "no points": ({"Nx": 0}, "Nx = 0, allowed are 1 to"),
    "huge": ({"Ny": 2**40}, "Ny = 1099511627776, allowed are"),
    "wide layers": ({"pml_x_size": 10}, "pml_x_size = 10: two such layers exceed Nx = 18"),
    "growing layers": ({"pml_y_alpha": np.float32(-2)}, "layers can only absorb"),
    "mixed densities": (
        {"rho0_sgy": np.ones(SPACE, np.float32)},
        "rho0 and rho0_sgy must both be one number or both vary",
    ),
    "linear power": (
        {"absorbing_flag": 1, "alpha_power": np.float32(1)},
        "alpha_power = 1, allowed are 0 to 3 except 1",
    ),
    "high power": (
        {"absorbing_flag": 1, "alpha_power": np.float32(3.5)},
        "alpha_power = 3.5, allowed",
    ),
    "growing waves": (
        {
            "absorbing_flag": 1,
            "alpha_power": np.float32(1.5),
            "alpha_coeff": np.float32(-1),
        },
        "alpha_coeff is negative",
    ),
    "no B/A": ({"nonlinear_flag": 1}, "the dataset BonA is missing"),
    "unknown flag": ({"absorbing_flag": 3}, "absorbing_flag = 3, allowed: 0, 1, 2"),
    "nonuniform": ({"nonuniform_grid_flag": 1}, "grids with varying spacing are not supported"),
    "axisymmetric": ({"axisymmetric_flag": 1}, "axisymmetric grids are not supported"),
    "elastic": ({"elastic_flag": 1}, "elastic media are not supported"),
    "no sensor": ({"sensor_mask_index": None}, "the dataset sensor_mask_index is missing"),
    "sensor outside": ({"sensor_mask_index": FIRST * 3025}, "allowed are 1 to 3024"),
    "sensor zero": ({"sensor_mask_index": FIRST * 0}, "contains 0 to 0, allowed are 1 to"),
    "no sensor points": ({"sensor_mask_index": np.empty((1, 1, 0), "<u8")}, "is empty"),
    "cuboid outside": (
        {"sensor_mask_type": 1, "sensor_mask_corners": as_dataset([1, 1, 1, 4, 4, 13])},
        "a cuboid that is empty or leaves the grid",
    ),
    "empty cuboid": (
        {"sensor_mask_type": 1, "sensor_mask_corners": as_dataset([4, 1, 1, 3, 4, 4])},
        "a cuboid that is empty or leaves the grid",
    ),
    "half a cuboid": (
        {"sensor_mask_type": 1, "sensor_mask_corners": as_dataset([4, 1, 1, 3])},
        "has 4 values, but each cuboid needs 6",
    ),
    "no source mode": ({"p_source_flag": 2}, "the dataset p_source_mode is missing"),
    "source mode": ({"p_source_flag": 2, "p_source_mode": 3}, "p_source_mode = 3, allowed: 0, 1"),
    "source twice": (
        {
            "p_source_flag": 2,
            "p_source_mode": 2,
            "p_source_many": 0,
            "p_source_index": as_dataset([3, 3]),
        },
        "p_source_index contains a point twice",
    ),
    "source signals": (
        {
            "p_source_flag": 2,
            "p_source_mode": 2,
            "p_source_many": 1,
            "p_source_index": as_dataset([3, 4]),
            "p_source_input": np.ones((1, 2, 3), np.float32),
        },
        "p_source_input has 6 values, but 4 are needed",
    ),
    "delays": (
        {
            "transducer_source_flag": 2,
            "transducer_source_input": np.ones(2, np.float32),
            "u_source_index": as_dataset([3, 4]),
            "delay_mask": np.array([0.5, 1], np.float32),
        },
        "delay_mask must contain whole numbers from 1 to 2",
    ),
}


@pytest.mark.parametrize("name", BAD_DATASETS)
def test_unusable_datasets_are_refused(tmp_path: Path, name: str) -> None:
    changes, message = BAD_DATASETS[name]
    path = Example(SPACE).write(tmp_path / "in.h5", changes)
    with pytest.raises(InputError) as error:
        read_input(path)
    assert message in str(error.value) and str(path) in str(error.value)


@pytest.mark.parametrize("flag", ["nonuniform_grid_flag", "axisymmetric_flag", "elastic_flag"])
def test_the_physics_of_a_file_are_not_to_be_changed(tmp_path: Path, flag: str) -> None:
    path = Example(SPACE).write(tmp_path / "in.h5", {flag: 1})
    with pytest.raises(InputError, match=r"or run it with k-Wave$") as error:
        read_input(path)
    assert "set it" not in str(error.value)


def test_two_axes_are_refused(tmp_path: Path) -> None:
    path = Example(SPACE).write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        values = file["c0"][0]
        del file["c0"]
        file["c0"] = values
    with pytest.raises(InputError, match="c0 has 2 axes, but three are needed"):
        read_input(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("file_type", "output", 'file_type is "output", but it must be "input"'),
        ("major_version", "2", 'the format "2.2"; known: 1.0, 1.1, 1.2'),
        ("minor_version", None, 'the format "1."; known'),
    ],
)
def test_other_kinds_of_files_are_refused(
    tmp_path: Path, name: str, value: str | None, message: str
) -> None:
    assert name in HEADER
    path = Example(SPACE).write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        del file.attrs[name]
        if value is not None:
            file.attrs[name] = np.bytes_(value)
    with pytest.raises(InputError, match=message):
        read_input(path)


@pytest.mark.parametrize("name", ["data_type", "domain_type"])
def test_types_in_attributes_are_checked(tmp_path: Path, name: str) -> None:
    path = Example(SPACE).write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        file["dt"].attrs[name] = np.bytes_("complex")
    with pytest.raises(InputError, match=f'dt: attribute {name} is "complex"'):
        read_input(path)


def test_a_grid_beyond_the_memory_is_refused(tmp_path: Path) -> None:
    changes = {f"N{axis}": 100_000 for axis in "xyz"}
    path = Example(SPACE).write(tmp_path / "in.h5", changes)
    setup = prepare(KWaveCase.from_dict({"file": path, "output": {"datasets": ["p_final"]}}))
    with pytest.raises(InputError, match=r"takes .* GB of memory, but"):
        open_solver(setup, SerialCommunicator(), measure=False)


def test_the_first_sample_must_be_taken_in_the_simulation(tmp_path: Path) -> None:
    path = Example(SPACE).write(tmp_path / "in.h5")
    with pytest.raises(InputError, match="-s 13: samples must start at one of the steps 1 to 12"):
        prepare(KWaveCase.from_dict({"file": path, "output": {"start": 13}}))
