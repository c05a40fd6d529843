"""Models of this machine where they were pulled, small ones made on the spot where not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ekr.config import Settings
from ekr.models.cache import folder_of, state_of


def pulled(name: str) -> Settings:
    """The settings of this machine; skips when the model is not there."""
    settings = Settings()
    if state_of(folder_of(settings.cache_dir, name)) != "present":
        pytest.skip(f"needs: ekr models pull {name}")
    return settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty cache."""
    return Settings(cache_dir=tmp_path / "cache")


Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]
Serve = Callable[[Answer], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a real HTTP server that answers each JSON request with `(status, object or event lines)`."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body["authorization"] = self.headers.get("Authorization")
                status, content = answer(self.path, body)
                raw = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
