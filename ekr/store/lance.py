"""LanceDB's compiled engine, loaded without the Python package around it.

`import lancedb` takes 0.9 s, nearly all of it for clients of remote services; the engine itself loads in
0.05 s, and a question has 2 s in all. The engine's calls are coroutines, so one background event loop a
process serves every thread. Writers use the public package, which then shares this same engine.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ekr.errors import StoreError

_NAME = "lancedb._lancedb"
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = 0

T = TypeVar("T")


def engine() -> ModuleType:
    """The compiled module. Raises StoreError when lancedb is not installed."""
    with _lock:
        if (loaded := sys.modules.get(_NAME)) is not None:
            return loaded
        # The engine's own log goes to stderr from native code, past Python's logging.
        os.environ.setdefault("LANCE_LOG", "error")
        package = importlib.util.find_spec("lancedb")
        folders = list(package.submodule_search_locations or []) if package else []
        library = next(
            (f for folder in folders for f in sorted(Path(folder).glob("_lancedb.*")) if f.suffix in (".so", ".pyd")),
            None,
        )
        spec = importlib.util.spec_from_file_location(_NAME, library) if library else None
        if spec is None or spec.loader is None:
            raise StoreError("lancedb is not installed; run: pip install ekr")
        module = importlib.util.module_from_spec(spec)
        # Known by its full name, so that a later `import lancedb` finds it: it can be initialised only once.
        sys.modules[_NAME] = module
        spec.loader.exec_module(module)
        return module


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and wait for its result; callable from any thread but the loop's."""
    return asyncio.run_coroutine_threadsafe(coroutine, _background_loop()).result()


def _background_loop() -> asyncio.AbstractEventLoop:
    global _loop, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="ekr-lance", daemon=True).start()
        return _loop
