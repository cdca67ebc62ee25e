"""Which properties of a medium a run needs, and where and how many samples of it are taken."""

from __future__ import annotations

USED = ("vp", "vs", "rho")  # of a material
QUALITY = ("qp", "qs")  # with attenuation too
# Nodes at faces are moved inwards by this fraction of half an edge, so that they lie inside an
# interface on the face. It exceeds the distance at which interfaces count as on a face, see
# `Profile`.
INWARDS = 1e-8
# Number of positions at which the medium is sampled at a time. They take about 100 MB. Of a file,
# their depths are read once.
SAMPLES = 2**20


def needed(attenuation: str) -> tuple[str, ...]:
    """The properties that a run needs with a model of attenuation, or with "none"."""
    return USED if attenuation == "none" else (*USED, *QUALITY)
