"""What local time steps would save: clusters of elements, and the gain on meshes."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from groundswell_rivals.dgwave import local_steps
from groundswell_rivals.dgwave.local_steps import best_clusters, find_clusters

LINE = np.stack([np.arange(5), np.arange(1, 6)], axis=1)  # six elements in a row


@pytest.mark.parametrize(
    ("steps", "clusters"),
    [
        ([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]),
        ([1, 2, 4, 8, 8, 16], [0, 1, 2, 3, 3, 4]),
        ([1, 9, 9, 9, 9, 9], [0, 1, 2, 3, 3, 3]),
        ([9, 9, 9, 9, 9, 1], [3, 3, 3, 2, 1, 0]),
        ([1.9, 1.9, 1, 1.99, 3.9, 3.9], [0, 0, 0, 0, 1, 1]),
    ],
)
def test_clusters_of_neighbours_differ_by_one(steps: list[float], clusters: list[int]) -> None:
    found = find_clusters(np.array(steps, float), LINE, 1.0)
    assert found.tolist() == clusters


def test_the_gain_counts_updates() -> None:
    """In the time of four short steps: 6 x 4 updates, or 2 x 4 + 2 x 2 + 2."""
    gain, clusters = best_clusters(np.array([1, 1, 2, 2, 4, 4.0]), LINE)
    assert gain == pytest.approx(24 / 14) and clusters.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_shorter_base_may_save_more() -> None:
    """With steps of 1, 0.9 x 1 and 0.9 x 2."""
    steps = np.array([1, 1.8, 1.8, 1.8, 1.8, 1.8])
    gain, clusters = best_clusters(steps, LINE)
    base = 2.0 ** -(3 / 16)
    assert clusters.tolist() == [0, 1, 1, 1, 1, 1] and gain == pytest.approx(base * 6 / 3.5)


def test_random_clusters_are_stable() -> None:
    rng = np.random.default_rng(0)
    steps, pairs = 2 ** rng.uniform(0, 6, 200), rng.integers(0, 200, (300, 2))
    gain, clusters = best_clusters(steps, pairs)
    assert np.abs(np.diff(clusters[pairs], axis=1)).max() <= 1
    assert (steps.min() * 2.0 ** (clusters - 1) < steps).all()
    assert 1 <= gain <= (1 / steps).max() / (1 / steps).mean()


def test_gains_on_meshes() -> None:
    chosen = ("layer over half-space (LOH.1)", "forest, fine around a fault")
    meshes = {name: local_steps.MESHES[name] for name in chosen}
    with patch.object(local_steps, "MESHES", meshes):
        layer, fault = local_steps.measure_local_steps(None)  # type: ignore[arg-type]
    # 500 m at 4000 m/s and 1000 m at 6000 m/s are less than a factor of two apart.
    assert layer["gain"] == 1 and layer["ratio"] == pytest.approx(4 / 3)
    # In one rock, clusters are levels of the forest.
    assert fault["ratio"] == 8 and fault["gain"] == pytest.approx(fault["bound"])
    assert fault["elements"] == sum(fault["clusters"])
