"""Images that are turned, or smaller than the region, and damaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from damage import count_refused
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from ultrasound_media import AXES, CELLS, LAYERS, REGION, WATER, H, build, refusal, save

from groundswell.solvers.ultrasound.media import MediumSection
from groundswell.solvers.ultrasound.media.build import MediumDescription

nibabel = pytest.importorskip("nibabel")
processing = pytest.importorskip("nibabel.processing")

SKULL = {"bone_hounsfield": 2000.0, "absorption": [2.0, 80.0], "threshold": -5000}
MATERIALS = [{"label": 1, "speed": 2800.0, "density": 1850.0}, {"label": 4, "speed": 1560.0}]


def turned(angle: float, spacing: Any = (0.9, 0.7, 1.1), shape: Any = (14, 16, 12)) -> Any:
    """An affine in mm, of voxels around the centre of the region, turned about two axes."""
    a, b = np.radians([angle, angle / 2])
    about_z = [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
    about_x = [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
    affine = np.eye(4)
    affine[:3, :3] = np.array(about_z) @ about_x @ np.diag(spacing)
    centre = (np.array(CELLS) - 1) / 2
    affine[:3, 3] = centre - affine[:3, :3] @ ((np.array(shape) - 1) / 2)
    return affine


def save_image(path: Path, values: NDArray[Any], affine: Any) -> Path:
    nibabel.save(nibabel.Nifti1Image(values, affine), path)
    return path


def hounsfield(path: Path, **keys: Any) -> dict[str, Any]:
    return {"quantity": "hounsfield", "file": path, "skull": SKULL, **keys}


def speed_of(numbers: Any) -> Any:
    return 1500 + 1400 * np.clip(numbers / 2000, 0, 1)


def random_image(folder: Path, angle: float, name: str = "ct.nii.gz") -> tuple[Path, Any]:
    values = np.random.default_rng(7).uniform(0, 2000, (14, 16, 12)).round().astype(np.int16)
    path = save_image(folder / name, values, turned(angle))
    return path, nibabel.Nifti1Image(values.astype(np.float32), turned(angle))


@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
@pytest.mark.parametrize("angle", [8.0, 40.0, 130.0])
def test_oblique_images_equal_those_that_nibabel_resamples(
    tmp_path: Path, angle: float, name: str
) -> None:
    path, image = random_image(tmp_path, angle, name)
    expected = processing.resample_from_to(image, (CELLS, np.eye(4)), order=1)
    numbers = np.pad(np.asarray(expected.dataobj).transpose(), LAYERS, mode="edge")
    assert_allclose(build(file=hounsfield(path)).speed, speed_of(numbers), rtol=1e-5)


def test_labels_in_oblique_images_are_those_of_the_nearest_voxel(tmp_path: Path) -> None:
    labels = np.random.default_rng(8).choice([0, 1, 4], (14, 16, 12)).astype(np.int16)
    path = save_image(tmp_path / "labels.nii", labels, turned(25.0))
    found = build(file={"quantity": "labels", "file": path, "material": MATERIALS}).speed
    points = np.stack(np.meshgrid(*map(np.arange, CELLS), indexing="ij"), axis=-1)
    index = (
        np.linalg.inv(turned(25.0)) @ np.append(points, np.ones((*CELLS, 1)), axis=-1)[..., None]
    )
    i, j, k = np.rint(index[..., :3, 0]).astype(int).transpose(3, 0, 1, 2)
    nearest = labels[i, j, k]
    expected = np.select([nearest == 1, nearest == 4], [2800.0, 1560.0], 1500.0).transpose()
    assert_array_equal(found, np.pad(expected, LAYERS, mode="edge"))


def test_axes_and_offset_of_oblique_images(tmp_path: Path) -> None:
    """A linear function, which interpolation reproduces, in coordinates of the file."""
    affine = turned(15.0, (1.0, 1.0, 1.0), (30, 30, 30))
    i, j, k = np.meshgrid(*(np.arange(30),) * 3, indexing="ij")
    x, y, z = np.einsum("ab,b...->a...", affine, np.stack([i, j, k, np.ones_like(i)]))[:3]
    path = save_image(tmp_path / "ct.nii", (1000 + 20 * x - 30 * y + 40 * z).astype("f4"), affine)
    file = hounsfield(path, axes=["y", "-z", "x"], offset=[1 * H, 2 * H, -3 * H])
    mm = [np.clip(at, 0, (n - 1) * H) / H for at, n in zip(AXES, CELLS, strict=True)]
    in_file = {"y": mm[0] - 1, "z": -(mm[1] - 2), "x": mm[2] + 3}
    numbers = (
        1000 + 20 * in_file["x"][:, None, None] + 40 * in_file["z"][:, None] - 30 * in_file["y"]
    )
    assert_allclose(build(file=file).speed, speed_of(numbers), rtol=1e-5)


def description(**keys: Any) -> MediumDescription:
    return MediumDescription(MediumSection(**{**WATER, **keys}), AXES, REGION, "float64")


def test_a_note_says_that_an_image_is_turned(tmp_path: Path) -> None:
    path, _ = random_image(tmp_path, 40.0)
    (note,) = description(file=hounsfield(path)).notes
    angle = np.degrees(nibabel.affines.obliquity(turned(40.0)).max())
    assert note.startswith(f"rotated by {angle:.3g} degrees relative to the grid")
    assert description().notes == []


# --- outside --------------------------------------------------------------------------------------


def test_small_oblique_images_end_in_the_uniform_medium(tmp_path: Path) -> None:
    values = np.full((6, 6, 6), 2000, np.int16)
    affine = turned(30.0, (0.7, 0.7, 0.7), (6, 6, 6))
    path = save_image(tmp_path / "ct.nii", values, affine)
    text = refusal(file=hounsfield(path))
    assert "does not cover the corner of the region at x, y, z = 0, 0, 0 m" in text
    found = description(file=hounsfield(path, outside="uniform"))
    points = np.stack(np.meshgrid(*map(np.arange, CELLS), indexing="ij")).reshape(3, -1)
    inverse = np.linalg.inv(affine)
    index = inverse[:3, :3] @ points + inverse[:3, 3:]
    inside = ((index >= 0) & (index <= 5)).all(axis=0).reshape(CELLS).transpose()
    assert 0.05 < inside.mean() < 0.9
    expected = np.pad(np.where(inside, 2900.0, 1500.0), LAYERS, mode="edge")
    assert_allclose(found.medium().speed, expected)
    assert found.notes[1] == f"covers {100 * inside.mean():.3g} % of the region"


@pytest.mark.parametrize("quantity", ["hounsfield", "labels", "properties"])
def test_small_files_end_in_the_uniform_medium(tmp_path: Path, quantity: str) -> None:
    """A file from x = 2 to 4 mm; along the other axes, it covers the region and more."""
    at = {"x": np.arange(2, 5) * H, "y": np.arange(-1, 9) * H, "z": np.arange(-1, 9) * H}
    value = {"hounsfield": 2000.0, "labels": 1, "properties": 2900.0}[quantity]
    name = "speed" if quantity == "properties" else quantity
    data = xr.Dataset({name: (("x", "y", "z"), np.full((3, 10, 10), value))}, at)
    path = save(tmp_path, data)
    more = {"skull": SKULL} if quantity == "hounsfield" else {}
    more |= {"material": MATERIALS} if quantity == "labels" else {}
    file = {"quantity": quantity, "file": path, **more}
    assert 'or set medium.file.outside to "uniform"' in refusal(file=file)
    found = description(file={**file, "outside": "uniform"})
    inside = np.isin(np.round(AXES[0] / H), [2, 3, 4])
    expected = np.where(inside, 2800.0 if quantity == "labels" else 2900.0, 1500.0)
    speed = found.medium().speed
    assert_allclose(speed, np.broadcast_to(expected, np.shape(speed)))
    assert found.notes == ["covers 42.9 % of the region"]


def test_the_layers_have_the_values_at_the_edge_of_the_region(tmp_path: Path) -> None:
    """A file that covers the region, but not its layers, is continued there also with `outside`."""
    at = {axis: np.arange(n) * H for axis, n in zip("xyz", CELLS, strict=True)}
    data = xr.Dataset({"hounsfield": (("x", "y", "z"), np.full(CELLS, 2000.0))}, at)
    file = hounsfield(save(tmp_path, data), outside="uniform")
    assert build(file=file).speed == 2900.0


def test_uniform_values_are_needed_outside(tmp_path: Path) -> None:
    data = xr.Dataset({"speed": (("x", "y", "z"), np.ones((2, 2, 2)))}, {n: [0, 1] for n in "xyz"})
    file = {"quantity": "properties", "file": save(tmp_path, data), "outside": "uniform"}
    assert "is required; give a speed" in refusal(speed=None, file=file)


def test_a_file_far_from_the_region_changes_nothing(tmp_path: Path) -> None:
    path, _ = random_image(tmp_path, 20.0)
    file = hounsfield(path, outside="uniform", offset=[1.0, 0, 0])
    assert "changes no grid point" in refusal(file=file)


# --- damage ---------------------------------------------------------------------------------------


@pytest.mark.most(1)
@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
@pytest.mark.parametrize("angle", [0.0, 20.0])
def test_mutants(tmp_path: Path, name: str, angle: float, capfd: Any) -> None:
    values = np.random.default_rng(9).uniform(0, 2000, (14, 16, 12)).astype(np.int16)
    path = save_image(tmp_path / name, values, turned(angle))
    content = path.read_bytes()

    def read(mutant: Path) -> None:
        build(file=hounsfield(mutant, outside="uniform"))

    if name.endswith(".nii"):  # most bytes are voxels: damage the header, too
        head = 352
        sound = content[head:]

        def read_header(mutant: Path) -> None:
            mutant.write_bytes(mutant.read_bytes() + sound)
            read(mutant)

        assert count_refused(read_header, path, content[:head], range(50)) > 10
    assert count_refused(read, path, content, range(50)) > 5
    assert "Traceback" not in capfd.readouterr().err
