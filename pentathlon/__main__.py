"""`python -m pentathlon`."""

from pentathlon.cli.main import main

main()
