"""Hexahedral meshes: boxes, Gmsh files, nodes of elements, numbering and partition."""
