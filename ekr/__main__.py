"""`python -m ekr`."""

from ekr.cli.main import run

run()
