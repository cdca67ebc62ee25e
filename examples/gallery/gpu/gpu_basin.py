"""
A basin in detail
=================

Forty million cells of 50 m: an earthquake of magnitude 5.5 beside a valley of soft ground, up to
2 Hz. The picture shows the motion of the surface, and its peak (:doc:`/earthquake`).

.. stored-picture:: gpu_basin
"""

# sphinx_gallery_thumbnail_path = '../examples/gallery/stored/gpu_basin.png'
import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

H = 50.0  # m
NX, NY, NZ = 640, 480, 128
x, y = H * np.arange(NX), H * np.arange(NY)[:, None]
axis = 13e3 + 3e3 * np.sin(x / 5e3)  # y of the middle of the valley, m
floor = 900 * np.exp(-(((y - axis) / 2.2e3) ** 2)) * np.exp(-(((x - 18e3) / 11e3) ** 4))  # m
depth = H * (np.arange(NZ)[:, None, None] + 0.5)
soft = depth < np.where(floor > 60, floor, 0)
vs = np.where(soft, 600 + 0.35 * depth, 2200 + 0.15 * depth).astype("float32")  # m/s
model = gs.earthquake.Model(
    vp=np.where(soft, 2.4, 1.75) * vs,
    vs=vs, rho=np.where(soft, 2000.0, 2600.0), qp=0.1 * vs, qs=0.05 * vs,
    spacing=H,
)
quake = {
    "kind": "double-couple",
    "x": 7e3, "y": 7e3, "depth": 5e3, "magnitude": 5.5,
    "strike": 60, "dip": 65, "rake": 60,
    "time_function": {"kind": "cosine", "rise": "1.2 s"},
}
result = gs.earthquake.simulate(
    model,
    [quake],
    duration="18 s", backend="cuda", quiet=False,
    attenuation={"model": "constant", "reference": "1 Hz", "band": ["0.1 Hz", "10 Hz"]},
    output={
        "record": [
            {
                "fields": ["vx"],
                "where": {"kind": "plane", "normal": "z", "at": 0}, "interval": "1 s",
                "file": "ground.nc",
            }
        ]
    },
)
vx = result.records["ground.nc"]["vx"].squeeze()
pgv = result.shaking_map["pgv"]

figure, panels = plt.subplots(2, 2, figsize=(13, 9), sharex=True, sharey=True, layout="constrained")
for time, axes in zip((5.0, 8.0, 13.0), panels.flat, strict=False):
    now = vx.sel(time=time, method="nearest")
    moving = axes.pcolormesh(
        now["x"] / 1e3, now["y"] / 1e3, 100 * now, cmap="RdBu_r", vmin=-10, vmax=10
    )
    axes.set_title(f"{time:.0f} s")
last = panels[1, 1]
peak = last.pcolormesh(pgv["x"] / 1e3, pgv["y"] / 1e3, 100 * pgv, cmap="magma_r", vmin=0)
last.set_title("peak ground velocity")
for axes in panels.flat:
    axes.contour(x / 1e3, y[:, 0] / 1e3, floor, levels=[60], colors="teal", linewidths=1)
    axes.plot(7, 7, "k*", markersize=12)
    axes.set_aspect("equal")
figure.supxlabel("x (km)")
figure.supylabel("y (km)")
figure.colorbar(moving, ax=panels[:, 0], label="velocity along x (cm/s)", extend="both", shrink=0.6)
figure.colorbar(peak, ax=panels[:, 1], label="peak ground velocity (cm/s)", shrink=0.6)
plt.show()
