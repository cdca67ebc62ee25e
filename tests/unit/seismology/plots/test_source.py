"""Focal mechanisms on maps that are turned."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.seismology.plots.source import rotated

pytestmark = pytest.mark.each_value


def test_a_turned_map_turns_the_mechanism() -> None:
    assert rotated([233.0, 77.0, 49.0], 30.0) == [203.0, 77.0, 49.0]
    # A vertical strike-slip fault along north (r up, t south, p east: Mtp = -1) seen on a map
    # whose up is east strikes west, as a tensor: the sign changes.
    assert rotated([0, 0, 0, 0, 0, -1], 90.0) == pytest.approx([0, 0, 0, 0, 0, 1])
    assert rotated([1, 1, 1, 0, 0, 0], 37.0) == pytest.approx([1, 1, 1, 0, 0, 0])


def test_turning_tensor_and_angles_agree() -> None:
    beachball = pytest.importorskip("obspy.imaging.beachball")
    strike, dip, rake = np.radians([233.0, 77.0, 49.0])
    # Aki and Richards (2002), box 4.4: north, east, down; then up, south, east.
    nn = -np.sin(dip) * np.cos(rake) * np.sin(2 * strike)
    nn -= np.sin(2 * dip) * np.sin(rake) * np.sin(strike) ** 2
    ne = np.sin(dip) * np.cos(rake) * np.cos(2 * strike)
    ne += 0.5 * np.sin(2 * dip) * np.sin(rake) * np.sin(2 * strike)
    nd = -np.cos(dip) * np.cos(rake) * np.cos(strike)
    nd -= np.cos(2 * dip) * np.sin(rake) * np.sin(strike)
    ee = np.sin(dip) * np.cos(rake) * np.sin(2 * strike)
    ee -= np.sin(2 * dip) * np.sin(rake) * np.cos(strike) ** 2
    ed = -np.cos(dip) * np.cos(rake) * np.sin(strike)
    ed += np.cos(2 * dip) * np.sin(rake) * np.cos(strike)
    dd = np.sin(2 * dip) * np.sin(rake)
    tensor = rotated([dd, nn, ee, nd, -ed, -ne], 30.0)
    plane = beachball.mt2plane(beachball.MomentTensor(*tensor, 0))
    planes = [(plane.strike, plane.dip, plane.rake)]
    planes.append(beachball.aux_plane(*planes[0]))
    assert any(p == pytest.approx((203.0, 77.0, 49.0), abs=1e-6) for p in planes)
