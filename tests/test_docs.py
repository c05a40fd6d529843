"""The generated documentation is what the commands say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_command_line_reference_is_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run `make docs`"
