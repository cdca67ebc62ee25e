"""
Focusing through a skull
========================

A plate of uneven bone defocuses an array. One run with a source at the target finds the phases that
bring the sound together again (:doc:`/ultrasound`).
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

TARGET = (22e-3, 12e-3)  # m
x, y = 0.25e-3 * np.arange(128), 0.25e-3 * np.arange(96)[:, None]
back = 9.5e-3 + 0.8e-3 * np.sin(y / 2e-3)
bone = (x > 7e-3) & (x < back)
speed = np.where(bone, 2600.0, 1500.0)
edges = np.linspace(3e-3, 21e-3, 25)
array = {
    "elements": [
        {"kind": "line", "start": [2e-3, low], "end": [2e-3, high - 0.1e-3]}
        for low, high in pairwise(edges)
    ],
    "pressure": "100 kPa",
    "signal": {"kind": "sine", "frequency": "700 kHz"},
}
medium = {"speed": speed, "density": np.where(bone, 1850.0, 1000.0)}
grid = {"spacing": 0.25e-3, "duration": "45 us"}
steered = {**array, "steering": TARGET}
case = gs.ultrasound.build_case(medium, [steered], **grid)
correction = gs.ultrasound.phase_correction(case, TARGET)
corrected = {**array, "phases": correction.phases[0].tolist()}

figure, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
sources = {"delays for water": steered, "phases from a run": corrected}
for (name, source), axes in zip(sources.items(), panels, strict=True):
    peak = gs.ultrasound.simulate(medium, [source], **grid).fields["p_max"].squeeze() / 1e3
    drawn = axes.pcolormesh(1e3 * peak["x"], 1e3 * peak["y"], peak, cmap="magma", vmin=0, vmax=200)
    axes.contour(1e3 * x, 1e3 * y[:, 0], bone, levels=[0.5], colors="white", linewidths=0.8)
    axes.plot(1e3 * TARGET[0], 1e3 * TARGET[1], "c+", markersize=14)
    at_target = float(peak.sel(x=TARGET[0], y=TARGET[1], method="nearest"))
    axes.set(aspect="equal", xlabel="x (mm)", title=f"{name}: {at_target:.0f} kPa at the target")
panels[0].set_ylabel("y (mm)")
figure.colorbar(drawn, label="largest pressure (kPa)", extend="max", shrink=0.9)
plt.show()
