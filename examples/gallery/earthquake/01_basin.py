"""
A basin shakes more
===================

Peak ground velocity of a small earthquake, with soft ground in part of the region
(:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((16, 40, 40), 2500.0)  # depth, y, x; m/s
y, x = np.ogrid[:40, :40]
basin = (x - 27) ** 2 + (y - 24) ** 2 < 9**2
vs[:3, basin] = 1000.0
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2400.0, spacing=200.0)
quake = {
    "kind": "double-couple",
    "x": "2.5 km", "y": "4 km", "depth": "2 km",
    "strike": 0, "dip": 90, "rake": 0, "magnitude": 4.5,
    "time_function": {"kind": "cosine", "rise": "0.8 s"},
}
result = gs.earthquake.simulate(model, [quake], duration="5 s")

pgv = 100 * result.shaking_map["pgv"]
east, north = pgv["x"] / 1e3, pgv["y"] / 1e3  # km
figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
drawn = axes.pcolormesh(east, north, pgv, cmap="magma_r", shading="gouraud")
axes.contour(east, north, basin, levels=[0.5], colors="teal")
axes.plot(2.5, 4, "w*", markersize=12)
axes.set(aspect="equal", xlabel="x (km)", ylabel="y (km)")
axes.set_title("A strike-slip earthquake (star) beside a basin (line)")
figure.colorbar(drawn, label="peak ground velocity (cm/s)")
plt.show()
