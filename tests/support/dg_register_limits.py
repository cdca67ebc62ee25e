"""Registers and spilled bytes of the kernels of DG waves, for test_cuda_compiles.py."""

from __future__ import annotations

# Of `advance`, by degree and whether it is elastic: registers, and bytes that a thread may spill,
# in single and double precision. Spilled bytes are accepted where more blocks on a multiprocessor
# are worth more (see kernel_shapes.py), and for N = 13 in double precision, where elements are too
# large for shared memory.
DG_LIMITS = {
    (1, False): ((64, 88), (0, 0)),
    (1, True): ((80, 128), (0, 0)),
    (3, False): ((48, 80), (176, 96)),
    (3, True): ((64, 160), (96, 0)),
    (4, False): ((112, 64), (0, 192)),
    (4, True): ((80, 128), (16, 0)),
    (7, False): ((64, 152), (128, 0)),
    (7, True): ((96, 160), (0, 0)),
    (10, False): ((80, 152), (144, 32)),
    (10, True): ((128, 168), (0, 0)),
    (13, False): ((128, 128), (0, 144)),
    (13, True): ((128, 128), (0, 1664)),
}
# What memory variables add to that, at most: registers and bytes.
MORE = {"mechanisms": (8, 160), "matched": (8, 400)}
NODAL_LIMITS = {
    (1, False): ((72, 96), (0, 0)),
    (1, True): ((80, 120), (0, 0)),
    (3, False): ((48, 80), (176, 80)),
    (3, True): ((64, 128), (96, 0)),
    (4, False): ((96, 80), (0, 0)),
    (4, True): ((80, 128), (0, 0)),
    (7, False): ((80, 128), (32, 0)),
    (7, True): ((80, 64), (32, 160)),
    (10, False): ((80, 128), (144, 32)),
    (10, True): ((120, 160), (0, 0)),
    (13, False): ((128, 128), (0, 144)),
    (13, True): ((120, 128), (0, 1632)),
}
CURVED_LIMITS = {
    (1, False): ((64, 80), (80, 256)),
    (1, True): ((80, 128), (64, 160)),
    (3, False): ((64, 64), (48, 208)),
    (3, True): ((64, 128), (112, 16)),
    (4, False): ((80, 128), (0, 0)),
    (4, True): ((80, 136), (208, 0)),
    (7, False): ((128, 64), (0, 144)),
    (7, True): ((64, 128), (112, 0)),
    (10, False): ((128, 168), (0, 144)),
    (10, True): ((168, 255), (80, 272)),
    (13, False): ((128, 232), (96, 0)),
    (13, True): ((216, 255), (0, 2496)),
}
LONG_DG = [limits for limits in DG_LIMITS if limits[0] not in (3, 7)]
