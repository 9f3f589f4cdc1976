"""Files for other programs and for papers."""
