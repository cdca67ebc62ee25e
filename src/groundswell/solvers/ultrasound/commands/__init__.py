"""Commands of ultrasound; their modules import little, because the command line imports them."""
