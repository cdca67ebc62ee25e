"""
Waves at the sea floor
======================

A source in the water: sound is reflected at the sea floor and becomes P and S waves in the rock,
where fast P waves run ahead (:doc:`/dgwave`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

EDGE = 100.0  # of the elements, m
water = np.arange(9)[:, None, None] < 4  # the upper 400 m; elements end at the sea floor
vs = np.broadcast_to(np.where(water, 0.0, 1400.0), (9, 1, 18))
model = gs.dgwave.Model(
    np.where(water, 1500.0, 2800.0), vs, np.where(water, 1000.0, 2300.0), spacing=EDGE
)
source = {
    "kind": "airgun",
    "x": 500, "y": 50, "depth": 250, "strength": "20 bar m",
    "time_function": {"kind": "ricker", "frequency": "8 Hz"},
}
section = {
    "fields": ["vz"],
    "where": {"kind": "plane", "normal": "y", "at": 50, "points": [181, 91]},
    "interval": "0.05 s",
    "file": "section.nc",
}
result = gs.dgwave.simulate(
    model,
    [source],
    duration="0.85 s", method={"degree": 4}, boundary={"width": 1},
    output={"record": [section]},
)

vz = 1e6 * result.records["section.nc"]["vz"].squeeze()  # um/s
figure, panels = plt.subplots(1, 2, figsize=(12, 3.8), sharey=True, layout="constrained")
for time, axes in zip((0.55, 0.75), panels, strict=True):
    now = vz.sel(time=time, method="nearest")
    drawn = axes.pcolormesh(
        now["x"], now["z"], now, cmap="RdBu_r", vmin=-600, vmax=600, shading="gouraud"
    )
    axes.axhline(400, color="black", linewidth=0.8)
    axes.set(aspect="equal", xlabel="x (m)", xlim=(0, 1800), ylim=(900, 0), title=f"{time} s")
panels[0].set_ylabel("depth (m)")
figure.colorbar(drawn, label="vertical velocity (µm/s)", extend="both", shrink=0.9)
plt.show()
