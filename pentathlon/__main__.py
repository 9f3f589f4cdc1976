"""`python -m pentathlon`."""

from pentathlon.cli.start import main

main()
