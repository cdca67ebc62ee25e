"""Media: wave speeds, density and quality factors from layers, files and arrays."""
