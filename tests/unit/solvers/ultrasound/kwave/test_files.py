"""k-Wave's files: results against the scheme in NumPy, layout of files, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from kwave_files import Example, Reference
from numpy.typing import NDArray

from groundswell.solvers.ultrasound.kwave import outputs
from groundswell.solvers.ultrasound.kwave.case import OUTPUTS
from groundswell.solvers.ultrasound.kwave.command import main_cuda, main_omp
from groundswell.solvers.ultrasound.kwave.input_file import read_input
from groundswell.solvers.ultrasound.window import Window

pytestmark = pytest.mark.each_value

TOLERANCE = 1e-5  # of the largest value, in single precision
SPACE, PLANE = (12, 14, 18), (1, 16, 15)
FLAGS = [f"--{name}" for name in OUTPUTS]
RNG = np.random.default_rng(11)


def varying(shape: tuple[int, ...], value: float) -> NDArray[np.float64]:
    return value * (1 + 0.1 * RNG.uniform(-1, 1, shape))


def points(shape: tuple[int, ...], count: int = 5) -> NDArray[np.int64]:
    return RNG.choice(int(np.prod(shape)), count, replace=False)


def sources(shape: tuple[int, ...], mode: str, *, many: bool = True) -> list[Any]:
    """Sources of the pressure and the velocities, which end before the last step."""
    columns, at, elsewhere = (5,) if many else (), points(shape), points(shape)
    signals = [RNG.standard_normal((samples, *columns)) for samples in (9, 7, 8)]
    return [
        ("p", at, signals[0], mode),
        ("ux", elsewhere, 1e-3 * signals[1], mode),
        ("uy", elsewhere, 1e-3 * signals[2], mode),
    ]


def heterogeneous(shape: tuple[int, int, int], **more: Any) -> Example:
    return Example(
        shape,
        speed=varying(shape, 1500.0),
        density=varying(shape, 1000.0),
        alpha=varying(shape, 3.0),
        points=points(shape, 7),
        **more,
    )


def some_pressure(shape: tuple[int, ...]) -> NDArray[np.float64]:
    return 1e5 * RNG.standard_normal(shape)


def transducer(shape: tuple[int, ...]) -> Any:
    return points(shape, 6), np.array([2, 0, 4, 2, 1, 0]), 1e-3 * RNG.standard_normal(8)


EXAMPLES = {
    "initial pressure": Example(SPACE, p0=some_pressure(SPACE), points=points(SPACE)),
    "additive": heterogeneous(SPACE, sources=sources(SPACE, "additive")),
    "uncorrected, one signal": Example(
        SPACE, sources=sources(SPACE, "uncorrected", many=False), points=points(SPACE)
    ),
    "dirichlet, power law": heterogeneous(
        SPACE, sources=sources(SPACE, "dirichlet"), absorbing=1, nonlinearity=varying(SPACE, 6.0)
    ),
    "thermoviscous, all sources": heterogeneous(
        SPACE,
        sources=sources(SPACE, "additive"),
        absorbing=2,
        p0=some_pressure(SPACE),
        nonlinearity=5.0,
    ),
    "convection alone": Example(
        SPACE, p0=1e3 * some_pressure(SPACE), nonlinearity=0.0, points=points(SPACE)
    ),
    "transducer": Example(SPACE, transducer=transducer(SPACE), points=points(SPACE)),
    "plane": heterogeneous(PLANE, sources=sources(PLANE, "additive"), absorbing=1),
    "odd": Example((9, 11, 13), p0=some_pressure((9, 11, 13)), points=points((9, 11, 13))),
}


def run(folder: Path, example: Example, *flags: str, program: Any = main_omp) -> h5py.File:
    """Run the command on an example; returns the open output file."""
    example.write(folder / "in.h5")
    arguments = ["-i", str(folder / "in.h5"), "-o", str(folder / "out.h5"), *flags]
    assert program(arguments) == 0
    return h5py.File(folder / "out.h5")


def assert_close(found: NDArray[Any], wanted: NDArray[Any], scale: float) -> None:
    assert found.shape == wanted.shape and found.dtype == np.float32
    assert np.abs(found - wanted).max() < TOLERANCE * scale


def check_outputs(file: h5py.File, example: Example, start: int, at: Any, key: str = "") -> None:
    """Compare all outputs with those of the scheme; `at` takes the sampled points of fields."""
    for name, whole in Reference.of(example).fields.items():
        part, scale = whole[start - 1 :], np.abs(whole).max()
        series = at(part)
        raw = series if key else series[None]
        assert_close(file[f"{name}{key}"][()], raw, scale)
        if name.endswith("_non_staggered"):
            continue
        shape = series.shape[1:] if key else (1, 1, series.shape[1])
        for kind, wanted in (
            ("max", series.max(0)),
            ("min", series.min(0)),
            ("rms", np.sqrt(np.mean(series**2, 0))),
        ):
            assert_close(file[f"{name}_{kind}{key}"][()], wanted.reshape(shape), scale)
        assert_close(file[f"{name}_max_all"][()], part.max(0), scale)
        assert_close(file[f"{name}_min_all"][()], part.min(0), scale)
        assert_close(file[f"{name}_final"][()], part[-1], scale)


def check_example(folder: Path, example: Example, program: Any, start: int = 1) -> None:
    with run(folder, example, *FLAGS, "-s", str(start), program=program) as file:
        check_outputs(file, example, start, lambda p: p.reshape(len(p), -1)[:, example.points])


@pytest.mark.parametrize("name", EXAMPLES)
def test_results_are_those_of_the_scheme(tmp_path: Path, name: str) -> None:
    check_example(tmp_path, EXAMPLES[name], main_omp)


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXAMPLES)
def test_results_on_a_gpu_are_those_of_the_scheme(tmp_path: Path, gpu: Any, name: str) -> None:
    check_example(tmp_path, EXAMPLES[name], main_cuda)


@pytest.mark.parametrize("start", [2, 5, 12])
def test_samples_start_at_the_requested_step(tmp_path: Path, start: int) -> None:
    check_example(tmp_path, EXAMPLES["additive"], main_omp, start)


def test_series_longer_than_the_ring_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "ring_slots", lambda *_: 4)
    check_example(tmp_path, EXAMPLES["plane"], main_omp, 2)


@pytest.mark.parametrize("shape", [SPACE, PLANE])
def test_cuboids_are_groups(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    last = (5, 9, 7) if shape[0] > 1 else (5, 9, 1)
    boxes = [(2, 3, 1, *last), (15, 14, 1, 15, 14, 1)]
    example = Example(shape, p0=some_pressure(shape), cuboids=boxes)
    with run(tmp_path, example, *FLAGS, "-s", "3", "--copy_sensor_mask") as file:
        for number, (x1, y1, z1, x2, y2, z2) in enumerate(boxes, 1):
            box = np.s_[:, z1 - 1 : z2, y1 - 1 : y2, x1 - 1 : x2]
            check_outputs(file, example, 3, lambda fields, box=box: fields[box], f"/{number}")
        assert np.array_equal(file["sensor_mask_corners"][()], np.array(boxes)[None])


# --- the output file ------------------------------------------------------------------------------


def test_the_output_file_has_the_scalars_and_attributes_that_readers_expect(tmp_path: Path) -> None:
    example = EXAMPLES["dirichlet, power law"]
    with run(tmp_path, example, "--copy_sensor_mask") as file, h5py.File(tmp_path / "in.h5") as of:
        assert set(file) - set(of) == {"p", "t_index", "elastic_flag"}
        for name in set(file) & set(of):
            assert np.array_equal(file[name][()], of[name][()])
        assert {"Nx", "pml_x_size", "p_source_mode", "alpha_power", "axisymmetric_flag"} <= set(
            file
        )
        assert file["t_index"][0, 0, 0] == example.steps
        assert {name: file.attrs[name] for name in ("file_type", "minor_version")} == {
            "file_type": b"output",
            "minor_version": b"2",
        }
        assert file.attrs["total_execution_time"].endswith(b"s")
        assert file.attrs["peak_core_memory_in_use"].endswith(b"MB")
        for name, dataset in file.items():
            kind = b"float" if dataset.dtype == np.float32 else b"long"
            assert dataset.attrs["data_type"] == kind, name
            assert dataset.attrs["domain_type"] == b"real"
            assert not dataset.attrs.get_id("data_type").get_type().is_variable_str()
    assert {path.name for path in tmp_path.iterdir()} == {"in.h5", "out.h5"}


def test_without_flags_the_pressure_is_recorded(tmp_path: Path) -> None:
    with run(tmp_path, EXAMPLES["odd"]) as file:
        assert "p" in file and not {"p_max", "ux", "p_final"} & set(file)


@pytest.mark.parametrize("cuboids", [[], [(2, 3, 1, 5, 9, 7)]])
def test_compression_changes_no_value(tmp_path: Path, cuboids: list[Any]) -> None:
    example = Example(SPACE, p0=some_pressure(SPACE), points=points(SPACE), cuboids=cuboids)
    found = {}
    for level in "09":
        with run(tmp_path, example, *FLAGS, "-c", level) as file:
            found[level] = contents(file)
            assert file["p_max_all"].compression == (None if level == "0" else "gzip")
    assert_same(found["0"], found["9"])


def test_a_benchmark_overrides_the_steps(tmp_path: Path) -> None:
    with run(tmp_path, EXAMPLES["additive"], "--benchmark", "3") as file:
        assert file["Nt"][0, 0, 0] == file["t_index"][0, 0, 0] == 3
        assert file["p"].shape == (1, 3, 7)


@pytest.mark.parametrize("minor", ["0", "1"])
def test_older_formats(tmp_path: Path, minor: str) -> None:
    example = EXAMPLES["odd"]
    new = run(tmp_path, example)["p"][()]
    missing = ["axisymmetric_flag"] + ["sensor_mask_type"] * (minor == "0")
    example.write(tmp_path / "old.h5", dict.fromkeys(missing))
    with h5py.File(tmp_path / "old.h5", "r+") as file:
        file.attrs["minor_version"] = np.bytes_(minor)
    files = ["-i", str(tmp_path / "old.h5"), "-o", str(tmp_path / "old_out.h5")]
    assert main_omp(files) == 0
    with h5py.File(tmp_path / "old_out.h5") as file:
        assert np.array_equal(file["p"][()], new)
        assert file["axisymmetric_flag"][0, 0, 0] == 0


@pytest.mark.parametrize("flat", [False, True])
def test_a_rank_reads_its_window_of_the_medium(tmp_path: Path, flat: bool) -> None:
    """Windows wrap around the grid; other programs may store fields in another shape."""
    example = heterogeneous(SPACE, absorbing=1, nonlinearity=varying(SPACE, 6.0))
    speed = np.asarray(example.datasets()["c0"])
    changes = {"c0": speed.reshape(1, 1, -1)} if flat else {}
    data = read_input(example.write(tmp_path / "in.h5", changes))
    window = Window(SPACE[::-1], (9, 0, 6), (9, 14, 6), (4, 0, 3))
    found = data.medium.within(window, lossy=True)
    assert window.indices(0).tolist() == [*range(5, 18), *range(4)]
    rows = np.ix_(*(window.indices(axis) for axis in (2, 1, 0)))
    assert np.array_equal(found.speed, speed[rows])
    assert np.array_equal(found.staggered[2], example.datasets()["rho0_sgz"][rows])
    assert found.absorption.shape == window.extended[::-1]
    assert float(np.max(data.materials.speed)) == speed.max()
    assert float(np.min(data.materials.density)) == example.datasets()["rho0"].min()


def test_delays_may_be_floats(tmp_path: Path) -> None:
    example = EXAMPLES["transducer"]
    found = run(tmp_path, example)["p"][()]
    delays = np.asarray(example.datasets()["delay_mask"], np.float32)
    example.write(tmp_path / "in.h5", {"delay_mask": delays})
    assert main_omp(["-i", str(tmp_path / "in.h5"), "-o", str(tmp_path / "other.h5")]) == 0
    with h5py.File(tmp_path / "other.h5") as file:
        assert np.array_equal(file["p"][()], found)


# --- checkpoints ----------------------------------------------------------------------------------


def contents(file: h5py.File) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    file.visititems(add)
    return found


def assert_same(found: dict[str, NDArray[Any]], wanted: dict[str, NDArray[Any]]) -> None:
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        assert np.array_equal(found[name], values), name


def check_restart(folder: Path, example: Example, program: Any, *flags: str) -> None:
    """Legs of 5 steps give the same bits as one."""
    with run(folder, example, *FLAGS, *flags, program=program) as file:
        wanted = contents(file)
    (folder / "out.h5").unlink()
    state = folder / "state.h5"
    for done in (5, 10, 12):
        more = ["--checkpoint_file", str(state), "--checkpoint_timesteps", "5"]
        with run(folder, example, *FLAGS, *flags, *more, program=program) as file:
            assert file["t_index"][0, 0, 0] == done
            assert state.exists() == (done < 12)
            found = contents(file)
    assert_same(found, wanted)
    assert {path.name for path in folder.iterdir()} == {"in.h5", "out.h5"}


@pytest.mark.parametrize("flags", [(), ("-s", "7"), ("-c", "3", "--copy_sensor_mask")])
@pytest.mark.parametrize("name", ["additive", "thermoviscous, all sources", "plane"])
def test_a_restart_changes_no_bit(tmp_path: Path, name: str, flags: tuple[str, ...]) -> None:
    check_restart(tmp_path, EXAMPLES[name], main_omp, *flags)


@pytest.mark.gpu
def test_a_restart_on_a_gpu_changes_no_bit(tmp_path: Path, gpu: Any) -> None:
    check_restart(tmp_path, EXAMPLES["thermoviscous, all sources"], main_cuda, "-s", "3")


def test_checkpoints_have_the_fields_of_k_wave(tmp_path: Path) -> None:
    state = tmp_path / "state.h5"
    flags = ["--checkpoint_file", str(state), "--checkpoint_timesteps", "4"]
    run(tmp_path, EXAMPLES["plane"], *flags).close()
    with h5py.File(state) as file:
        assert file.attrs["file_type"] == b"checkpoint"
        fields = {"p", "rhox", "rhoy", "ux_sgx", "uy_sgy"}
        assert set(file) == {"Nx", "Ny", "Nz", "t_index", *fields}
        assert all(file[name].shape == PLANE for name in fields)
