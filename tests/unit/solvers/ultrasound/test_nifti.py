"""Results as NIfTI images in the frame of the image of the medium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from numpy.testing import assert_allclose

import groundswell as gs
from groundswell.errors import InputError

nibabel = pytest.importorskip("nibabel")

H, SHAPE, MARKED = 0.4, (9, 8, 7), (3, 5, 2)  # mm; voxels
OFFSET = (4e-3, 3e-3, 2e-3)  # m
BALL = {"kind": "ball", "centre": [4e-3] * 3, "radius": "1 mm", "pressure": 500.0}


def oblique() -> Any:
    """An affine in mm of voxels of 1.1 by 0.9 by 1.3 mm, turned about two axes."""
    a, b = np.radians([25.0, 10.0])
    about_z = [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
    about_x = [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
    affine = np.eye(4)
    affine[:3, :3] = np.array(about_z) @ about_x @ np.diag([1.1, 0.9, 1.3])
    affine[:3, 3] = [-3.0, -4.0, -6.0]
    return affine


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run in the frame of an image whose y, -z and x axes are x, y and z of the case."""
    folder = tmp_path_factory.mktemp("nifti")
    labels = np.zeros(SHAPE, np.int16)
    labels[MARKED] = 1
    image = nibabel.Nifti1Image(labels, oblique())
    image.header.set_xyzt_units("mm", "sec")
    nibabel.save(image, folder / "ct.nii.gz")
    file = {
        "quantity": "labels", "file": str(folder / "ct.nii.gz"), "outside": "uniform",
        "axes": ["y", "-z", "x"], "offset": list(OFFSET),
        "material": [{"label": 1, "speed": 2800.0}],
    }  # fmt: skip
    return gs.ultrasound.simulate(
        {"speed": 1500.0, "density": 1000.0, "file": file},
        initial=BALL,
        points=(24, 24, 24),
        spacing=H * 1e-3,
        duration="0.5 us",
    )


def position(voxel: Any) -> Any:
    """Position of a voxel in the case, m."""
    x, y, z = 1e-3 * (oblique() @ [*voxel, 1])[:3]
    return np.array([y, -z, x]) + OFFSET


def test_a_marked_voxel_comes_back_at_its_place(result: Any, tmp_path: Path) -> None:
    path = result.write_nifti(tmp_path / "speed.nii.gz", result.medium["speed"])
    image = nibabel.load(path)
    values = image.get_fdata()
    assert values.shape == SHAPE and values[MARKED] == 2800.0
    others = values.copy()
    others[MARKED] = 0.0
    assert others.max() < 2000.0
    assert_allclose(image.affine, oblique(), atol=1e-6)
    assert image.header.get_xyzt_units()[0] == "mm"
    assert image.header["descrip"].item().decode() == "speed m s-1"


def test_values_round_trip(result: Any, tmp_path: Path) -> None:
    """A linear field is interpolated exactly; voxels outside the region have another value."""
    x, y, z = (result.fields[axis] for axis in "xyz")
    linear = (1e3 * (x - 2 * y + 3 * z) + 5).rename("linear")
    image = nibabel.load(result.write_nifti(tmp_path / "a.nii", linear, outside=-99.0))
    found, inside = image.get_fdata(), 0
    for voxel in np.ndindex(*SHAPE):
        at = position(voxel)
        if ((at >= 0) & (at <= 23 * H * 1e-3)).all():
            inside += 1
            expected = 1e3 * (at[0] - 2 * at[1] + 3 * at[2]) + 5
            assert found[voxel] == pytest.approx(expected, abs=1e-5)
        else:
            assert found[voxel] == -99.0
    assert 100 < inside < np.prod(SHAPE)


def test_fields_are_written_by_name(result: Any, tmp_path: Path) -> None:
    for name in ("p_max", "p_rms"):
        found = nibabel.load(result.write_nifti(tmp_path / f"{name}.nii", name)).get_fdata()
        voxel = (4, 4, 4)
        expected = result.fields[name].interp(dict(zip("xyz", position(voxel), strict=True)))
        assert found[voxel] == pytest.approx(expected.item(), rel=1e-5)


def test_another_image_gives_another_grid(result: Any, tmp_path: Path) -> None:
    affine = np.diag([2.0, 2.0, 2.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 3, 4), np.uint8), affine), tmp_path / "b.nii")
    path = result.write_nifti(tmp_path / "out.nii", "p_max", like=tmp_path / "b.nii")
    assert nibabel.load(path).shape == (2, 3, 4)
    assert nibabel.load(path).get_data_dtype() == np.float32


def test_colours_and_meaning_of_the_other_image_are_left_out(result: Any, tmp_path: Path) -> None:
    """A CT's window would show pressures as white, and labels would have a colour each."""
    image = nibabel.Nifti1Image(np.zeros((2, 3, 4), np.int16), np.diag([2.0, 2.0, 2.0, 1.0]))
    image.header.set_intent("label", name="bones")
    image.header["cal_min"], image.header["cal_max"], image.header["aux_file"] = -1000, 2000, b"ct"
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"slices"))
    nibabel.save(image, tmp_path / "ct.nii")
    found = nibabel.load(result.write_nifti(tmp_path / "p.nii", like=tmp_path / "ct.nii")).header
    assert found.get_intent() == ("none", (), "")
    assert found["cal_min"] == found["cal_max"] == 0
    assert not found["aux_file"].item() and not found.extensions


def test_bad_requests_are_refused(result: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'"p_mx" must be p_max.*did you mean'):
        result.write_nifti(tmp_path / "a.nii", "p_mx")
    with pytest.raises(InputError, match=r"must end in \.nii"):
        result.write_nifti(tmp_path / "a.nc")
    with pytest.raises(InputError, match="run groundswell heat"):
        result.write_nifti(tmp_path / "a.nii", "dose")
    with pytest.raises(InputError, match="have the dimensions y, x; give a field with z"):
        result.write_nifti(tmp_path / "a.nii", result.fields["p_max"][0])
    with pytest.raises(InputError, match=r"none\.nii does not exist"):
        result.write_nifti(tmp_path / "a.nii", like=tmp_path / "none.nii")
    assert not list(tmp_path.iterdir())


def test_a_plane_fills_the_voxels_within_half_a_spacing(tmp_path: Path) -> None:
    """A run in two dimensions has one plane, z = 0."""
    water = {"speed": 1500.0, "density": 1000.0}
    size: dict[str, Any] = {"points": (24, 24), "spacing": H * 1e-3, "duration": "0.5 us"}
    flat = gs.ultrasound.simulate(water, initial=BALL | {"centre": [4e-3, 4e-3]}, **size)
    affine = np.diag([1.0, 1.0, 1.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(np.zeros((5, 5, 3), np.uint8), affine), tmp_path / "b.nii")
    with pytest.raises(InputError, match="the case has no image; give like"):
        flat.write_nifti(tmp_path / "a.nii")
    ones = xarray.ones_like(flat.fields["p_max"])
    path = flat.write_nifti(tmp_path / "a.nii", ones, like=tmp_path / "b.nii")
    found = nibabel.load(path).get_fdata()
    assert (found[..., 0] == 1).all() and not found[..., 1:].any()
