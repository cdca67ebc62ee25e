"""Types of arrays, by what they contain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reals = NDArray[np.floating]  # in single or double precision
Complexes = NDArray[np.complex128]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
HostArray = NDArray[Any]
DeviceArray = NDArray[Any]  # a NumPy array, or a CuPy array, which has the same methods
