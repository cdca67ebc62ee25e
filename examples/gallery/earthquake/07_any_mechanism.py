"""
Three runs for every earthquake
===============================

Three runs with a force at a station record the strain at a point below. They give the seismograms
of any earthquake there, whatever its mechanism (:doc:`/green-tensors`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((24, 30, 30), 1800.0)  # depth, y, x; m/s
vs[6:] = 2800.0
model = gs.earthquake.Model(vp=1.75 * vs, vs=vs, rho=2400.0, spacing=200.0)
pulse = {"kind": "gaussian", "sigma": "0.2 s"}
station = {"name": "TOP", "x": 4400.0, "y": 4000.0}
focus = {"x": 2100.0, "y": 2500.0, "depth": 3100.0}


def strain_due_to(axis):
    """The strain at the focus due to an impulse of force at the station, 1/(N s)."""
    force = {"kind": "force", "x": 4400.0, "y": 4000.0, "depth": 0, "time_function": pulse}
    record = {"station": "TOP", "positions": [[*focus.values()]]}
    return gs.earthquake.simulate(
        model,
        [{**force, "force": [1e10 * (axis == n) for n in range(3)]}],
        duration="4.5 s", output={"strain_green_tensor": record, "shaking_map": False},
    ).strain_green_tensor


green = [strain_due_to(axis) for axis in range(3)]
moment = 1e15  # N m
mechanisms = {  # moment tensors by component; x points east, y north, z down
    "strike-slip": {"xy": 1.0},
    "thrust": {"xx": -1.0, "zz": 1.0},
    "explosion": {"xx": 1.0, "yy": 1.0, "zz": 1.0},
}
thrust = {"kind": "double-couple", **focus, "strike": 0, "dip": 45, "rake": 90}
direct = gs.earthquake.simulate(
    model, [{**thrust, "moment": moment, "time_function": pulse}], [station], duration="4.5 s"
).seismograms[0]

figure, panels = plt.subplots(3, 3, figsize=(11, 6), sharex=True, sharey="row")
for (name, tensor), row in zip(mechanisms.items(), panels, strict=True):
    for axis, (component, axes) in enumerate(zip("ENZ", row, strict=True)):
        run = green[axis]
        each = run["strain"][0] / run.attrs["impulse"] * (-1 if component == "Z" else 1)
        # Shear components occur twice in the sum over the tensor.
        motion = sum(
            moment * m * each.sel(component=at) * (1 if at[0] == at[1] else 2)
            for at, m in tensor.items()
        )
        axes.plot(run["time"], 100 * motion, label="from strain")
        if name == "thrust":
            axes.plot(direct["time"], 100 * direct.sel(component=component), "k:", label="direct")
    row[0].set_ylabel(f"{name}\ncm/s")
for axes, title in zip(panels[0], ("east", "north", "up"), strict=True):
    axes.set_title(title)
panels[1, 0].legend()
figure.supxlabel("time (s)")
figure.tight_layout()
plt.show()
