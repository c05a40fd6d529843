"""Calls to an OpenAI-compatible endpoint: one place for address, key, time-outs, retries and error messages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ekr.errors import ModelError

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
READ_SECONDS = 180.0
_TRIES = 3
_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
_OK = 200


def is_endpoint(spec: str) -> bool:
    """Whether a model is named by the address of an endpoint."""
    return spec.startswith(("http://", "https://"))


class Endpoint:
    """`http(s)://host/path#model`: requests go to `http(s)://host/path/<call>`, with `model` in their body."""

    def __init__(self, spec: str, api_key: str | None) -> None:
        address, _, model = spec.partition("#")
        parts = urlsplit(address)
        if not parts.hostname or parts.username or parts.password or parts.query:
            raise ModelError(
                f"{address.split('@')[-1]!r} is not an endpoint; "
                "write http://host:port/v1#model, and the key into EKR_API_KEY"
            )
        self.base = address.rstrip("/")
        self.model = model or "default"
        self.name = f"{self.base}#{model}" if model else self.base
        self._api_key = api_key
        self._client: httpx.Client | None = None

    def _http(self) -> httpx.Client:
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
            timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
            self._client = httpx.Client(headers=headers, timeout=timeout)
        return self._client

    def post(self, call: str, body: dict[str, Any]) -> dict[str, Any]:
        """The parsed answer of one request; busy or unreachable servers are asked three times. Raises ModelError."""
        with self._translated(call):
            for attempt in range(1, _TRIES + 1):
                response = self._try(call, body, last=attempt == _TRIES)
                if response is not None:
                    break
                time.sleep(0.5 * 2**attempt)
            assert response is not None
            if response.status_code != _OK:
                raise ModelError(self._refusal(call, response.status_code, response.text))
            parsed = response.json()
            if not isinstance(parsed, dict):
                raise ValueError("not a JSON object")
            return parsed

    def _try(self, call: str, body: dict[str, Any], last: bool) -> httpx.Response | None:
        import httpx

        try:
            response = self._http().post(f"{self.base}/{call}", json={"model": self.model, **body})
        except httpx.ConnectError:
            if last:
                raise
            return None
        return None if response.status_code in _TRY_AGAIN and not last else response

    def stream(self, call: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The parsed `data:` events of a streamed answer. Raises ModelError."""
        request = {"model": self.model, **body, "stream": True}
        with (
            self._translated(call),
            self._http().stream("POST", f"{self.base}/{call}", json=request) as response,
        ):
            if response.status_code != _OK:
                raise ModelError(self._refusal(call, response.status_code, response.read().decode("utf-8", "replace")))
            for line in response.iter_lines():
                if not line.startswith("data:"):
                    continue
                data = line.removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                event = json.loads(data)
                if isinstance(event, dict) and event.get("error"):
                    raise ModelError(f"{self.base}/{call} broke off: {_one_line(str(event['error']))}")
                yield event

    @contextmanager
    def _translated(self, call: str) -> Iterator[None]:
        import httpx

        try:
            yield
        except httpx.HTTPError as error:
            reason = _one_line(str(error)) or type(error).__name__
            raise ModelError(f"{self.base}/{call} cannot be reached: {reason}; is the server up?") from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ModelError(f"{self.base}/{call} gave an answer that is not understood: {error}") from error

    def _refusal(self, call: str, status: int, text: str) -> str:
        hint = "; set EKR_API_KEY" if status in {401, 403} else ""
        try:
            error = json.loads(text)["error"]
            said = error["message"] if isinstance(error, dict) else str(error)
        except (ValueError, KeyError, TypeError):
            said = text
        return f"{self.base}/{call} answered {status}: {_one_line(said)}{hint}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
