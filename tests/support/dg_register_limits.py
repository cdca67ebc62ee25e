"""Registers and spilled bytes of the kernels of DG waves, for test_cuda_compiles.py."""

from __future__ import annotations

# Of `advance`, by degree and whether it is elastic: registers, and bytes that a thread may spill,
# in single and double precision. Spilled bytes are accepted where more blocks on a multiprocessor
# are worth more, see kernel_shapes.py, and in degrees 10 and 13, which few cases use.
DG_LIMITS = {
    (1, False): ((64, 72), (0, 0)),
    (1, True): ((80, 128), (0, 0)),
    (3, False): ((80, 96), (16, 0)),
    (3, True): ((80, 128), (24, 0)),
    (4, False): ((72, 96), (32, 0)),
    (4, True): ((80, 96), (24, 0)),
    (7, False): ((80, 96), (0, 0)),
    (7, True): ((96, 128), (0, 0)),
    (10, False): ((80, 104), (0, 40)),
    (10, True): ((104, 160), (32, 0)),
    (13, False): ((104, 104), (0, 48)),
    (13, True): ((112, 128), (0, 0)),
}
# What memory variables add to that, at most: registers and bytes.
MORE = {"mechanisms": (8, 48), "matched": (8, 72)}
NODAL_LIMITS = {
    (1, False): ((72, 72), (0, 0)),
    (1, True): ((88, 120), (0, 0)),
    (3, False): ((64, 80), (72, 24)),
    (3, True): ((80, 80), (0, 0)),
    (4, False): ((72, 72), (40, 72)),
    (4, True): ((72, 96), (24, 0)),
    (7, False): ((72, 120), (32, 0)),
    (7, True): ((64, 64), (80, 160)),
    (10, False): ((80, 96), (0, 16)),
    (10, True): ((80, 128), (0, 0)),
    (13, False): ((112, 96), (0, 80)),
    (13, True): ((80, 128), (0, 0)),
}
CURVED_LIMITS = {
    (1, False): ((64, 96), (32, 0)),
    (1, True): ((80, 128), (32, 0)),
    (3, False): ((80, 80), (32, 80)),
    (3, True): ((80, 128), (48, 0)),
    (4, False): ((80, 96), (0, 32)),
    (4, True): ((80, 128), (0, 0)),
    (7, False): ((64, 120), (80, 0)),
    (7, True): ((80, 128), (64, 120)),
    (10, False): ((80, 120), (16, 0)),
    (10, True): ((80, 128), (72, 64)),
    (13, False): ((96, 128), (64, 0)),
    (13, True): ((104, 176), (0, 0)),
}
LONG_DG = [limits for limits in DG_LIMITS if limits[0] not in (3, 7)]
