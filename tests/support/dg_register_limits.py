"""Registers and spilled bytes of the kernels of DG waves, for test_cuda_compiles.py."""

from __future__ import annotations

# Of `advance`, by degree and whether it is elastic: registers, and bytes that a thread may spill,
# in single and double precision. Spilled bytes are accepted where more blocks on a multiprocessor
# are worth more, see kernel_shapes.py.
DG_LIMITS = {
    (1, False): ((72, 88), (0, 0)),
    (1, True): ((80, 128), (0, 0)),
    (3, False): ((48, 80), (128, 16)),
    (3, True): ((64, 128), (64, 0)),
    (4, False): ((80, 64), (16, 144)),
    (4, True): ((80, 128), (16, 0)),
    (7, False): ((64, 96), (64, 0)),
    (7, True): ((96, 128), (0, 0)),
    (10, False): ((80, 104), (0, 0)),
    (10, True): ((112, 128), (0, 0)),
    (13, False): ((80, 104), (48, 0)),
    (13, True): ((104, 128), (0, 0)),
}
# What memory variables add to that, at most: registers and bytes.
MORE = {"mechanisms": (8, 48), "matched": (8, 64)}
NODAL_LIMITS = {
    (1, False): ((80, 80), (0, 0)),
    (1, True): ((88, 120), (0, 0)),
    (3, False): ((48, 80), (96, 0)),
    (3, True): ((64, 96), (96, 16)),
    (4, False): ((72, 80), (0, 0)),
    (4, True): ((80, 128), (0, 0)),
    (7, False): ((80, 120), (0, 0)),
    (7, True): ((80, 64), (0, 144)),
    (10, False): ((80, 96), (0, 0)),
    (10, True): ((96, 128), (0, 0)),
    (13, False): ((72, 96), (64, 0)),
    (13, True): ((72, 128), (0, 0)),
}
CURVED_LIMITS = {
    (1, False): ((64, 80), (80, 208)),
    (1, True): ((80, 128), (48, 64)),
    (3, False): ((64, 64), (48, 176)),
    (3, True): ((64, 128), (96, 16)),
    (4, False): ((80, 96), (0, 0)),
    (4, True): ((80, 136), (112, 32)),
    (7, False): ((96, 64), (0, 128)),
    (7, True): ((64, 128), (96, 16)),
    (10, False): ((96, 104), (0, 0)),
    (10, True): ((104, 128), (0, 32)),
    (13, False): ((72, 128), (48, 0)),
    (13, True): ((128, 184), (0, 0)),
}
LONG_DG = [limits for limits in DG_LIMITS if limits[0] not in (3, 7)]
