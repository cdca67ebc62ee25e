"""Analytic and semi-analytic reference solutions.

`fullspace`: point force and moment tensor in a full space. `lamb`: vertical force on a half-space.
`layered`: moment tensor in a layered half-space. `loh`: the layer-over-half-space problems.
`misfit`: misfit of a seismogram to its reference. `pulse`: source time functions.
"""
