"""Analytic and semi-analytic solutions that the earthquake solver is held against.

`fullspace`: point force and moment tensor in a full space. `lamb`: vertical force on a half-space.
`loh`: the layer-over-half-space problems. `misfit`: distance of a seismogram from its reference.
`pulse`: the source-time functions of all of them.
"""
