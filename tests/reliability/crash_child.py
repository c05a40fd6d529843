"""Runs the command `ekr`, to be killed: `python crash_child.py STEP OCCURRENCE CHECKPOINTS ARGUMENT…`.

At that occurrence of the marked step of a commit it says "reached" and kills itself, at the very line of the step.
With CHECKPOINTS 1 it publishes after every few documents, which a long ingest does every half a minute.
"""

from __future__ import annotations

import logging
import os
import signal
import sys


class _Kill(logging.Handler):
    def __init__(self, step: str, occurrence: int) -> None:
        super().__init__(logging.DEBUG)
        self._step, self._left = step, occurrence

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith(self._step):
            self._left -= 1
            if self._left == 0:
                os.write(1, b"reached\n")
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    step, occurrence, checkpoints, *arguments = sys.argv[1:]
    if checkpoints == "1":
        from ekr.ingestion import pipeline
        from ekr.store import writer

        pipeline.EMBED_BATCH_CHUNKS = 8
        writer.CHECKPOINT_SECONDS, writer.CHECKPOINT_SHARE = 0.0, 1e9
    for name in ("ekr.store", "ekr.ingestion"):
        logging.getLogger(name).setLevel(logging.DEBUG)
        logging.getLogger(name).addHandler(_Kill(step, int(occurrence)))
    sys.argv = ["ekr", *arguments]
    from ekr.cli.main import run

    run()


# Worker processes import this file again and must not start an ingest of their own.
if __name__ == "__main__":
    main()
