"""Registers and spilled bytes of the kernels of DG waves, for test_cuda_compiles.py."""

from __future__ import annotations

# Of `advance` for DG waves, by degree and whether it is elastic: registers, and bytes that a thread
# may spill, where more blocks on a multiprocessor are worth more (see kernel_shapes.py).
DG_LIMITS = {
    (1, False): ((72, 92), (0, 0)),
    (1, True): ((96, 128), (0, 0)),
    (3, False): ((48, 80), (204, 108)),
    (3, True): ((64, 160), (88, 16)),
    (4, False): ((120, 64), (0, 260)),
    (4, True): ((80, 128), (16, 16)),
    (7, False): ((64, 168), (124, 0)),
    (7, True): ((96, 180), (16, 0)),
    (10, False): ((80, 168), (160, 0)),
    (10, True): ((136, 188), (0, 0)),
    (13, False): ((128, 128), (0, 176)),
    (13, True): ((136, 128), (0, 1760)),  # too large for shared memory in double precision
}
# What memory variables and materials of nodes add to that, at most: registers and bytes.
MORE = {"mechanisms": (12, 120), "matched": (24, 290), "nodal": (0, 50)}
CURVED_LIMITS = {  # of elements that are not bricks, in the shapes that are fastest for bricks
    (1, False): ((88, 128), (0, 0)),
    (1, True): ((106, 140), (0, 0)),
    (3, False): ((48, 88), (330, 290)),
    (3, True): ((64, 202), (80, 0)),
    (4, False): ((118, 64), (0, 240)),
    (4, True): ((80, 138), (16, 16)),
    (7, False): ((64, 178), (200, 0)),
    (7, True): ((96, 255), (280, 0)),
    (10, False): ((80, 208), (240, 0)),
    (10, True): ((140, 255), (340, 240)),
    (13, False): ((138, 140), (0, 630)),
    (13, True): ((140, 80), (480, 7200)),  # too large for shared memory in double precision
}
LONG_CURVED = [limits for limits in CURVED_LIMITS if limits[0] not in (3, 7)]
LONG_DG = [limits for limits in DG_LIMITS if limits[0] not in (3, 7)]
