"""Tests of accuracy run on one thread: two of them share a machine of two cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Between short kernels a second thread only spins. All other tests run several threads."""
    with patch.dict(os.environ, OMP_NUM_THREADS="1"):
        yield
