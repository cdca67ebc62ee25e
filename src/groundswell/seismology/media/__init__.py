"""What the ground is made of: media from layers, files and arrays, and their statistics."""
