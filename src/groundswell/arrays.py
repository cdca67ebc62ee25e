"""Types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any  # a NumPy or CuPy array, depending on the backend
Floats = NDArray[np.float64]
