"""What tests of media share."""

from __future__ import annotations

import pytest
from netcdf_models import uneven_model


@pytest.fixture
def model():
    return uneven_model()
