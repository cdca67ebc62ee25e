"""MPC v1.2 streams by NumPy, written from the description of the format (Yang et al. 2015)."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import HostArray, Reals

CHUNK = 1024
SIGNATURES = {32: 0x63706D00, 64: 0x43504D00}


def stream_of(values: Reals) -> HostArray:
    """The stream of an array: header, bitmaps, nonzero words."""
    width = 8 * values.itemsize
    words = values.view(f"u{values.itemsize}")
    count, groups = len(words), -(-len(words) // width)
    coded = _coded(words, width)
    maps = np.packbits(coded[: groups * width] != 0, bitorder="little").view(words.dtype)
    signature = SIGNATURES[width]
    header = [signature, count] if width == 32 else [count << 32 | signature]
    return np.concatenate([np.array(header, words.dtype), maps, coded[coded != 0]])


def _coded(words: HostArray, width: int) -> HostArray:
    """The words before the elimination of zeros: whole chunks, the last one padded."""
    chunks = np.zeros((-(-len(words) // CHUNK), CHUNK), words.dtype)
    chunks.ravel()[: len(words)] = words
    plain = chunks.copy()
    chunks[:, 1:] -= plain[:, :-1]
    chunks.ravel()[len(words) :] = 0
    turned = _transposed(chunks.reshape(-1, width)).reshape(-1, CHUNK)
    before = turned.copy()
    turned[:, 1:] -= before[:, :-1]
    return turned.ravel()


def _transposed(groups: HostArray) -> HostArray:
    """Bit m of word l of a group is bit l of its word m before."""
    count, width = groups.shape
    bits = np.unpackbits(groups.view(np.uint8).reshape(count, width, -1), axis=2, bitorder="little")
    turned = np.packbits(bits.transpose(0, 2, 1), axis=2, bitorder="little")
    return np.ascontiguousarray(turned).view(groups.dtype)
