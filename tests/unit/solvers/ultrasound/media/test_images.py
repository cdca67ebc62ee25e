"""Media of ultrasound cases from images: CT numbers of skull bone, and labels."""

from __future__ import annotations

import sys
from math import log, pi
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from ultrasound_media import (
    AXES,
    CELLS,
    LAYERS,
    REGION,
    WATER,
    H,
    build,
    interpolated,
    model,
    refusal,
    save,
)

from groundswell.solvers.ultrasound.media import MediumSection, build_medium
from groundswell.solvers.ultrasound.media.formats import open_nifti
from groundswell.solvers.ultrasound.media.skull import bone_properties
from groundswell.solvers.ultrasound.media.stored_array import StoredImage
from groundswell.solvers.ultrasound.medium import AcousticMedium

# --- skull ----------------------------------------------------------------------------------------

BONE = 1250.0  # CT number of bone without pores
SKULL: dict[str, Any] = {"bone_hounsfield": BONE, "absorption": [2.0, 80.0]}


def skull(**keys: Any) -> Any:
    defaults = {"threshold": 300.0, "bone_hounsfield": 2000.0, "bone_speed": 2900.0}
    others = {"bone_density": 2100.0, "water_speed": 1500.0, "water_density": 1000.0}
    return SimpleNamespace(absorption=(2.0, 80.0), **{**defaults, **others, **keys})


def test_bone_without_pores_and_pores_only_have_the_properties_of_bone_and_water() -> None:
    found = bone_properties(np.array([2000.0, 2800.0, 0.0, -1000.0, 1500.0]), skull())
    assert_allclose(found["speed"], [2900, 2900, 1500, 1500, 2550])
    assert_allclose(found["density"], [2100, 2100, 1000, 1000, 1825])
    assert_allclose(found["absorption"], [2, 2, 80, 80, 41])


def test_ct_numbers_in_netcdf_become_bone(tmp_path: Path) -> None:
    data = model()[["speed"]].rename(speed="ct") - 1500  # -100 to 1500
    file = {"quantity": "hounsfield", "file": save(tmp_path, data), "variable": "ct"}
    medium = build(speed=1540.0, density=1050.0, file={**file, "skull": SKULL}, power=1.1)
    ct = interpolated(data, "ct")
    psi = np.clip(1 - ct / BONE, 0, 1)
    bone = ct >= 300
    assert bone.any() and not bone.all()
    assert_allclose(medium.speed, np.where(bone, psi * 1500 + (1 - psi) * 2900, 1540), rtol=1e-12)
    assert_allclose(medium.density, np.where(bone, psi * 1000 + (1 - psi) * 2100, 1050), rtol=1e-12)
    per_metre = 100 / (20 / log(10)) / (2e6 * pi) ** 1.1
    absorption = np.where(bone, 2 + 78 * np.sqrt(psi), 0)
    assert_allclose(medium.absorption, per_metre * absorption, rtol=1e-12)


def test_ct_numbers_without_bone_are_refused(tmp_path: Path) -> None:
    data = model()[["speed"]].rename(speed="hounsfield") - 3000
    file = {"quantity": "hounsfield", "file": save(tmp_path, data, engine="scipy"), "skull": SKULL}
    text = refusal(file=file)
    assert "model.nc changes no grid point" in text and "the threshold or labels" in text


# --- labels and NIfTI -----------------------------------------------------------------------------

MATERIALS = [
    {"label": 1, "speed": 2800.0, "density": 1850.0},
    {"label": 4, "speed": 1560.0},
]


def label_values(seed: int = 3) -> NDArray[np.int16]:
    """Labels (nx, ny, nz) of voxels of 1 mm around the points of the region."""
    return np.random.default_rng(seed).choice([0, 1, 4], CELLS).astype(np.int16)


def save_nifti(tmp_path: Path, values: NDArray[Any], affine: Any = None, **options: Any) -> Path:
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(values, np.eye(4) if affine is None else np.array(affine))
    if "unit" in options:
        image.header.set_xyzt_units(options["unit"])
    path = tmp_path / options.get("name", "ct.nii.gz")
    nibabel.save(image, path)
    return path


def labels_file(path: Path, **keys: Any) -> dict[str, Any]:
    return {"quantity": "labels", "file": path, "material": MATERIALS, **keys}


def assert_labels(medium: AcousticMedium, labels: NDArray[Any]) -> None:
    """Compare a medium with labels (nx, ny, nz) of the region."""
    expected = np.select([labels == 1, labels == 4], [2800.0, 1560.0], 1500.0).transpose()
    assert isinstance(medium.speed, np.ndarray)
    assert_array_equal(medium.speed, np.pad(expected, LAYERS, mode="edge"))
    assert_array_equal(np.unique(medium.density), [1000, 1850])


@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
def test_label_maps_in_nifti_become_materials(tmp_path: Path, name: str) -> None:
    labels = label_values()
    assert_labels(build(file=labels_file(save_nifti(tmp_path, labels, name=name))), labels)


def test_labels_are_those_of_the_nearest_voxel(tmp_path: Path) -> None:
    labels = label_values()
    path = save_nifti(tmp_path, labels)
    file = labels_file(path, offset=[0.3 * H, 0.0, 0.0])
    section = MediumSection(**WATER, file=file)
    region = ((0.4 * H, 0, 0), REGION[1])
    assert_labels(build_medium(section, AXES, region, "float64"), labels)


def test_the_affine_and_the_unit_of_a_nifti_file_are_respected(tmp_path: Path) -> None:
    labels = label_values()
    nx, ny, _ = CELLS
    # The first axis of the array points against y, the second against x; metres.
    affine = np.array(
        [[0, -H, 0, (nx - 1) * H], [-H, 0, 0, (ny - 1) * H], [0, 0, H, 0.1], [0, 0, 0, 1]]
    )
    path = save_nifti(tmp_path, labels[::-1, ::-1].transpose(1, 0, 2), affine, unit="meter")
    assert_labels(build(file=labels_file(path, offset=[0, 0, -0.1])), labels)


def test_axes_turn_a_nifti_file(tmp_path: Path) -> None:
    labels = label_values()
    path = save_nifti(tmp_path, labels[:, :, ::-1].transpose(2, 0, 1))
    file = labels_file(path, axes=["y", "z", "-x"], offset=[0, 0, (CELLS[2] - 1) * H])
    assert_labels(build(file=file), labels)


def test_ct_numbers_in_nifti_are_scaled_and_interpolated(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    ct = np.random.default_rng(5).uniform(-200, 1500, tuple((n + 1) // 2 + 1 for n in CELLS))
    image = nibabel.Nifti1Image(ct, np.diag([2.0, 2.0, 2.0, 1.0]))
    image.header.set_data_dtype(np.int16)
    path = tmp_path / "ct.nii.gz"
    nibabel.save(image, path)
    file = {"quantity": "hounsfield", "file": path, "skull": {**SKULL, "threshold": -1000}}
    medium = build(file=file)
    coords = {axis: 2 * H * np.arange(n) for axis, n in zip("xyz", ct.shape, strict=True)}
    data = xr.Dataset({"ct": (("x", "y", "z"), ct)}, coords)
    psi = np.clip(1 - interpolated(data, "ct") / BONE, 0, 1)
    assert_allclose(medium.speed, psi * 1500 + (1 - psi) * 2900, atol=0.1)


@pytest.mark.parametrize("shape", [(6, 5, 4), (6, 5, 4, 1), (6, 5)])
def test_parts_of_nifti_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]
) -> None:
    """What nobody asks for stays in the file, also if an axis is reversed; values are scaled."""
    nibabel, read = pytest.importorskip("nibabel"), list[int]()
    values = np.random.default_rng(4).integers(-90, 90, shape).astype(np.int16)
    image = nibabel.Nifti1Image(values, np.eye(4))
    image.header.set_slope_inter(2.0, 5.0)  # nibabel applies them when it reads
    nibabel.save(image, tmp_path / "ct.nii")

    def counting(array: StoredImage, key: Any, whole: Any = StoredImage._read) -> Any:
        found = whole(array, key)
        read.append(found.size)
        return found

    monkeypatch.setattr(StoredImage, "_read", counting)
    data = open_nifti(tmp_path / "ct.nii").dataset("ct")["ct"]
    assert not read
    part = data.isel(y=slice(None, None, -1), x=slice(2, 4)).isel(z=[0, data.sizes["z"] - 1])
    expected = 2 * values.reshape((*shape, 1)[:3]) + 5
    assert_array_equal(part.values, expected[2:4, ::-1][:, :, [0, -1]])
    assert sum(read) == 2 * 5 * expected.shape[2]
    assert_array_equal(data.values, expected)


@pytest.mark.parametrize("dtype", [np.complex64, [("R", "u1"), ("G", "u1"), ("B", "u1")]])
def test_images_of_other_than_real_numbers_are_refused(tmp_path: Path, dtype: Any) -> None:
    path = save_nifti(tmp_path, np.zeros(CELLS, dtype))
    assert "give an image of real numbers" in refusal(file=labels_file(path))


def test_labels_without_material_are_refused(tmp_path: Path) -> None:
    labels = label_values()
    labels[1, 2, 3] = 7
    text = refusal(file=labels_file(save_nifti(tmp_path, labels)))
    assert "has labels without a material, 7; add [[medium.file.material]]" in text


def test_images_with_times_are_refused(tmp_path: Path) -> None:
    several = np.repeat(label_values()[..., None], 2, axis=3)
    assert "has an image of shape" in refusal(file=labels_file(save_nifti(tmp_path, several)))
    assert_labels(build(file=labels_file(save_nifti(tmp_path, several[..., :1]))), several[..., 0])


def test_a_nifti_file_that_does_not_cover_the_region_is_refused(tmp_path: Path) -> None:
    text = refusal(file=labels_file(save_nifti(tmp_path, label_values()[:-1])))
    assert "covers x from 0 m to 0.005 m" in text and "extend from 0 m to 0.006 m" in text


@pytest.mark.parametrize("name", ["ct.nii", "ct.nii.gz"])
@pytest.mark.parametrize("part", [0, 10, 0.5, 0.99])
def test_truncated_nifti_files_are_refused(tmp_path: Path, name: str, part: float) -> None:
    path = save_nifti(tmp_path, label_values(), name=name)
    data = path.read_bytes()
    path.write_bytes(data[: int(part if part >= 1 else part * len(data))])
    text = refusal(file=labels_file(path))
    assert "cannot be read as NIfTI" in text and "\n" not in text


def test_a_missing_nibabel_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ct.nii"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "nibabel", None)
    assert "pip install -e '.[ultrasound]'" in refusal(file=labels_file(path))
