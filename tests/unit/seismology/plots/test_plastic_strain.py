"""Maps of plastic strain: blank where nothing has yielded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from result_files import EVENT, X, Y

from groundswell.seismology.formats.plastic_strain import (
    NAME,
    read_plastic_strain,
    write_plastic_strain,
)
from groundswell.seismology.formats.shaking_maps import SurfacePoints
from groundswell.seismology.plots.plastic_strain import plastic_strain

AWAY = np.hypot(*np.meshgrid(X - X.mean(), Y - Y.mean()))


@pytest.mark.most(2)
@pytest.mark.parametrize("largest", [0.2, 3e-6, 0.0])
def test_a_map_of_any_size(tmp_path: Path, largest: float) -> None:
    strain = largest * np.maximum(0, 1 - AWAY / 1500)
    write_plastic_strain(tmp_path / NAME, strain, SurfacePoints(X, Y), EVENT)
    found = read_plastic_strain(tmp_path / NAME)
    assert np.array_equal(found.plastic_strain, strain) and found.plastic_strain.units == "1"
    coloured = np.ptp(imread(plastic_strain(tmp_path))[..., :3], axis=2) > 0.2
    assert bool(coloured.mean() > 0.03) == bool(largest)
