"""
A phased array steers its beam
==============================

Delays of its 24 elements point the same array at three targets (:doc:`/ultrasound`).
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

targets = [(20e-3, 12e-3), (14e-3, 18e-3), (26e-3, 5e-3)]  # m
edges = np.linspace(4e-3, 20e-3, 25)
lines = [
    {"kind": "line", "start": [2e-3, low], "end": [2e-3, high - 0.1e-3]}
    for low, high in pairwise(edges)
]
array = {
    "elements": lines,
    "pressure": "100 kPa",
    "signal": {"kind": "burst", "frequency": "1 MHz", "cycles": 4},
}

figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
for target, axes in zip(targets, panels, strict=True):
    result = gs.ultrasound.simulate(
        {"speed": 1500.0, "density": 1000.0},
        [{**array, "steering": target}],
        points=(132, 96), spacing=0.25e-3, duration="28 us",
    )
    peak = result.fields["p_max"].squeeze() / 1e3
    drawn = axes.pcolormesh(1e3 * peak["x"], 1e3 * peak["y"], peak, cmap="magma", vmin=0, vmax=400)
    axes.plot([2, 2], [4, 20], color="cyan", linewidth=3)
    axes.plot(1e3 * target[0], 1e3 * target[1], "w+", markersize=12)
    axes.set(aspect="equal", xlabel="x (mm)")
panels[0].set_ylabel("y (mm)")
figure.colorbar(drawn, label="largest pressure (kPa)", extend="max", shrink=0.8)
plt.show()
