"""Flow in a box with walls, driven by buoyancy or by a moving lid."""
