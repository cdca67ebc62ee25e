"""Random models in NetCDF files, and media that read them."""

from __future__ import annotations

import numpy as np
from random_media import random_model

from groundswell.seismology.case.model_files import NetcdfSection
from groundswell.seismology.media.gridded import GriddedMedium
from groundswell.seismology.media.models import open_model


def uneven(rng, low, high, n):
    """`n` values in order, the outermost as given."""
    return np.concatenate([[low], np.sort(rng.uniform(low, high, n - 2)), [high]])


def uneven_model():
    """A random model whose axes have other values than the centres of cells."""
    rng = np.random.default_rng(11)
    x, y, depth = uneven(rng, -30, 431, 9), uneven(rng, 0, 300, 7), uneven(rng, 10, 500, 8)
    return random_model(12, x, y, depth)


def netcdf_medium(path, cells, spacing, geography=None, **options):
    """The medium of a file at the centres of cells, whose spacing is in metres."""
    section = NetcdfSection(kind="netcdf", file=path, **options)
    return GriddedMedium(open_model(section), cells, spacing, geography)


def save(tmp_path, data, **options):
    """The file with a model."""
    path = tmp_path / "model.nc"
    data.to_netcdf(path, engine=options.pop("engine", "h5netcdf"), **options)
    return path


def centres(n, h):
    """Of `n` cells of the size `h`, or of the sizes `h`, in metres."""
    return np.cumsum(h) - np.divide(h, 2) if isinstance(h, tuple) else (np.arange(n) + 0.5) * h


GRADED = ((50.0, 150.0, 120.0, 80.0), 100.0, (30.0, 70.0, 100.0, 160.0, 60.0))
