"""Problems with known answers for the DG wave solver."""

from __future__ import annotations

PROBLEMS = [
    "attenuation:quality",
]
