"""
Convection that never rests
===========================

Air between a hot and a cold wall at a Rayleigh number of a billion: layers at the walls, waves in
the core, and eddies where they meet (:doc:`/cavity`).

.. stored-picture:: gpu_convection
"""

# sphinx_gallery_thumbnail_path = '../examples/gallery/stored/gpu_convection.png'
import matplotlib.pyplot as plt

import groundswell as gs

planes = {
    "fields": ["T"],
    "where": {"kind": "plane", "normal": "y", "at": 0.5},
    "interval": 10.0, "file": "planes.nc",
}
result = gs.cavity.simulate(
    (255, 1, 255),
    {"kind": "rayleigh", "rayleigh": 1e9, "prandtl": 0.71},
    {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}},
    stretching={"x": 2.5, "z": 1.8},
    time={"duration": 40.0, "step": 0.02},
    output={"record": [planes]},
    backend="cuda", quiet=False,
)

figure, panels = plt.subplots(1, 3, figsize=(15, 5), sharey=True, layout="constrained")
temperature = result.records["planes.nc"]["T"].squeeze()
for time, axes in zip((10.0, 20.0, 40.0), panels, strict=True):
    now = temperature.sel(time=time, method="nearest")
    drawn = axes.pcolormesh(
        *(now["x"], now["z"], now),
        cmap="RdBu_r", vmin=-0.5, vmax=0.5, shading="gouraud",
    )
    axes.set(aspect="equal", xlabel="x", title=f"time {time:.0f}, in units of free fall")
panels[0].set_ylabel("z")
figure.colorbar(drawn, label="temperature")
plt.show()
