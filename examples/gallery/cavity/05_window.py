"""
Air in a tall window
====================

The air between two panes is at rest when one pane becomes warm and the other cold. It begins to
circulate at once, and warm air fills the window from above (:doc:`/cavity`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

planes = {
    "fields": ["T", "w"],
    "where": {"kind": "plane", "normal": "y", "at": 0.5},
    "interval": 2.0, "file": "planes.nc",
}
result = gs.cavity.simulate(
    (31, 1, 79),
    {"kind": "rayleigh", "rayleigh": 1e5, "prandtl": 0.71},
    {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}},
    size=(1.0, 1.0, 4.0),
    stretching={"x": 1.5},
    time={"duration": 40.0, "step": 0.5},
    output={"record": [planes]},
)
moments = result.records["planes.nc"].squeeze()

figure, panels = plt.subplots(1, 5, figsize=(9.5, 6), sharey=True, layout="constrained")
for time, axes in zip((2, 4, 8, 16, 40), panels, strict=True):
    now = moments.sel(time=time, method="nearest")
    drawn = axes.contourf(now["x"], now["z"], now["T"], levels=21, cmap="RdBu_r")
    axes.contour(
        now["x"], now["z"], now["w"], levels=[-0.2, -0.1, 0.1, 0.2], colors="black", linewidths=0.6
    )
    axes.set(aspect="equal", xlabel="x", title=f"time {time}", xlim=(0, 1), xticks=[0, 1])
panels[0].set_ylabel("z")
figure.colorbar(drawn, label="temperature; lines: vertical velocity", shrink=0.8)
plt.show()
