"""Registers and spilled bytes of kernels, for test_cuda_compiles.py."""

from __future__ import annotations

# Most registers of a thread (single, double precision), about a tenth above what NVRTC 13.5 gives.
HOT_LIMITS = {
    "pml": {
        "update_velocity": (52, 80),
        "update_stress": (70, 140),
    },
    "sponge": {
        "update_velocity": (50, 68),
        "update_stress": (66, 136),
    },
    "periodic": {
        "update_velocity": (50, 68),
        "update_stress": (88, 108),
    },
}
# The same of memory variables in 16 bits or of materials in a table, or of both.
STORAGE_LIMITS = {
    "pml": {"update_velocity": (64, 80), "update_stress": (72, 140), "correct_stress": (64, 80)},
    "sponge": {"update_velocity": (50, 68), "update_stress": (64, 136), "correct_stress": (50, 80)},
    "periodic": {
        "update_velocity": (50, 68),
        "update_stress": (88, 140),
        "correct_stress": (42, 80),
    },
}
LIMITS = {
    "interpolate_traces": (40, 64),
    "project_jumps": (56, 80),
    "mirror_velocity": (32, 44),
    "mirror_stress": (36, 44),
    "correct_velocity": (32, 44),
    "correct_stress": (42, 72),
    "load_fault": (48, 48),
    "slide": (64, 64),
    "yield_rock": (32, 54),
    "stretch_fault": (48, 48),
    "record_fault": (48, 48),
    "release": (24, 24),
    "release_surface": (20, 20),
    "inject_moments": (52, 52),
    "inject_forces": (52, 62),
    "find_yielding": (64, 108),
    "clear_peaks": (10, 10),
    "relax_yielding": (52, 66),
    "yield_soil": (88, 140),
    "yield_edges": (50, 70),
    "release_soil": (24, 26),
    "repeat_parts": (40, 40),
    "repeat_lost": (48, 48),
    "record_points": (50, 60),
    "record_peaks": (36, 52),
    "record_velocity": (32, 32),
    "record_motion": (36, 36),
    "advance_oscillators": (26, 36),
    "keep_peaks": (22, 28),
    "sum_motion": (42, 42),
    "respond": (56, 56),
    "record_surface": (36, 52),
    "record_box": (44, 44),  # reads several values before it writes any
    "record_sums": (32, 32),
    "accumulate_strain": (28, 36),
    "sum_over_loads": (40, 40),
    "synthesize": (40, 56),
    "multiply_rows": (20, 20),
    "advance_clock": (10, 10),
    "find_nonfinite": (68, 68),
    "copy_boxes": (52, 52),
    "send_boxes": (128, 128),
    "receive_boxes": (128, 128),
    "exchange_boxes": (128, 128),
    "set_link": (16, 16),
    "poll_flags": (20, 20),
    "allow_peers": (20, 20),
    "wait_for_permission": (24, 24),
    "signal_messages": (32, 32),
    "mpc_compress": (64, 72),
    "mpc_decompress": (64, 72),
    "zfp_compress": (40, 48),
    "zfp_decompress": (40, 48),
    "advance": (96, 128),  # two blocks of 256 threads share a processor's registers
    "advance_first": (88, 128),
    "find_rates": (80, 128),
    "sum_rows": (96, 96),
    "begin_step": (24, 24),
    "begin_implicit_step": (24, 24),
    "end_first_step": (24, 24),
    "weigh_by_capacity": (24, 24),
    "set_at_rest": (24, 24),
    "interpolate": (64, 64),
    "assemble": (64, 64),
    "assemble_tiles": (56, 56),  # nine blocks of 128 threads share a processor's registers
    "send_rows": (80, 104),
    "wait_for_rows": (32, 32),
    "receive_rows": (64, 96),
    "multiply_values": (16, 16),
    "apply_sides": (40, 40),
    "tabulate_metric": (48, 64),
    "combine_kept": (36, 36),
    "combine_vectors": (36, 36),
    "put_values": (12, 12),
    "prescribe_values": (20, 18),
    "find_residual": (60, 52),
    "convert_residual": (16, 14),
    "convert_image": (16, 14),
    "correct_values": (52, 50),
    "store_values": (22, 22),
    "advance_rows": (128, 128),  # which two blocks on a processor leave each thread
    "measure_rows": (84, 92),
    "add_up_sums": (64, 64),
    "stream_eight": (32, 40),
    "multiply_add": (72, 128),
    "volume": (44, 70),
    "flux": (56, 70),
    "volume_and_flux": (64, 70),
    "integrate": (20, 22),
    "pack_elements": (24, 24),
    "sum_products": (60, 60),
    "add_up_parts": (48, 48),
    "sum_over_ranks": (40, 40),
    "find_step": (48, 48),
    "send_partial_sums": (48, 48),
    "find_global_step": (48, 48),
    "advance_iterate": (32, 40),
    "solve_elements": (44, 70),
    "restrict_elements": (36, 60),
    "prolong_elements": (36, 70),
    "advance_smoothing": (18, 22),
    "subtract_values": (14, 14),
    "multiply_sparse": (36, 36),
    "multiply_long_rows": (44, 44),
    "convert_values": (14, 14),
    "next_step": (8, 8),
    "set_source": (38, 38),
    "add_source": (38, 38),
    "taper_x": (18, 18),
    "taper_y": (18, 18),
    "taper_z": (18, 18),
    "shift_x": (20, 24),
    "shift_y": (20, 24),
    "shift_z": (20, 24),
    "add": (10, 10),
    "add_terms": (32, 32),
    "clear": (10, 10),
    "equation_of_state": (28, 30),
    "total_density": (16, 16),
    "compress": (36, 36),
    "accelerate_z": (26, 26),
    "accelerate_y": (26, 26),
    "accelerate_x": (26, 26),
    "scale": (14, 14),
    "derivative_z": (18, 24),
    "derivative_y": (18, 24),
    "derivative_x": (18, 24),
    "triad": (14, 14),
    "touch": (12, 12),
    "store_traces": (32, 32),
    "count_step": (10, 10),
    "laplacian": (16, 24),
    "contract": (36, 36),
}

# By degree: a thread has a line of values in registers, or what tells the shape of an element.
POISSON_LIMITS = {
    1: (54, 80),
    4: (80, 128),
    7: (106, 216),
    10: (128, 140),
    15: (140, 255),
}

GAUSS_LIMITS = {1: 52, 3: 56, 7: 102, 8: 118, 11: 184, 15: 184}  # double precision
GAUSS_SPILLS = {"apply_gauss_mass": 32, "apply_gauss_stiffness": 560}  # degree 15, 320 threads

# Bytes that a thread may spill: around the call that divides in double precision, where two
# kernels, which work on few cells, would otherwise leave fewer threads to a multiprocessor, and in
# one that waits for memory all the time, of whose threads there must be many.
FUSED_LIMITS = {  # of the fused k-space step, of which several blocks share a multiprocessor
    "find_gradient": (76, 128),
    "find_divergence": (76, 128),
    "find_laplacians": (72, 112),
    "correct_source": (72, 112),
    "clear_counts": (10, 10),
    "erase": (12, 12),
    "forward_x": (72, 124),
    "inverse_x": (64, 124),
    "add_inverse_x": (64, 112),
    "accelerate": (80, 168),
    "compress": (128, 255),
    "find_pressure": (128, 255),
    "forward_density": (96, 184),
}
FUSED_SPILLS = {"accelerate": 104, "compress": 80, "correct_source": 48, "find_gradient": 64}
TERMS_SPILLS = {**FUSED_SPILLS, "accelerate": 264}  # with velocity sources
SPILLS = {"inject_moments": 16, "inject_forces": 32}
SPILLS["record_peaks"] = 16  # double precision: around roots and divisions, outside the loop
SPILLS["assemble"] = 96
SPILLS["receive_rows"] = 32
SPILLS["project_jumps"] = 16  # acoustic, single precision: a few values, with 32 registers
SPILLS["advance_rows"] = 176  # of ten iterations' steps; less of these takes longer
# Of high degrees a few values, where twice as many threads are worth more (see kernel_variants.py).
SPILLS["apply_elements"] = 256
# In double precision, a few values, with the registers of two blocks on a processor.
SOLID_SPILLS = {**SPILLS, "advance": 16, "advance_first": 16, "find_rates": 32}
# More blocks instead.
OLDER_SPILLS = {"send_rows": 140, "receive_rows": 40, "record_points": 8, "yield_rock": 8}
OF_SEVERAL_SPILLS = {**SPILLS, "apply_elements": 384}  # which go through the same metric again
