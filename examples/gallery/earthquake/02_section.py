"""
A record section
================

Vertical motion at stations on a line: P waves arrive first, S waves and surface waves follow
(:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((20, 20, 50), 2000.0)  # depth, y, x; m/s
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2400.0, spacing=200.0)
source = {
    "kind": "explosion",
    "x": "1 km", "y": "2 km", "depth": "0.6 km", "magnitude": 3.5,
    "time_function": {"kind": "gaussian", "sigma": "0.15 s"},
}
distances = np.arange(1000.0, 8500.0, 500.0)  # m
stations = [{"name": f"S{d:.0f}", "x": 1000 + d, "y": 2000} for d in distances]
up = gs.earthquake.simulate(model, [source], stations, duration="6 s").seismograms.sel(
    component="Z"
)

figure, axes = plt.subplots(figsize=(6.5, 5))
for distance, trace in zip(distances, up, strict=True):
    axes.plot(trace["time"], distance / 1e3 + 0.4 * trace / abs(trace).max(), "k", linewidth=0.8)
peak = 0.9  # s, of the pulse: 6 sigma
axes.plot(peak + distances / 3600, distances / 1e3, "C0--", label="P: 3.6 km/s")
axes.plot(peak + distances / 1840, distances / 1e3, "C1--", label="Rayleigh: 1.84 km/s")
axes.set(xlabel="time (s)", ylabel="distance (km)", title="Each trace in units of its peak")
axes.legend(loc="lower right")
plt.show()
