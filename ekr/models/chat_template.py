"""Render a chat to tokens for a GGUF model, without executing the template inside the file.

llama.cpp knows the usual formats by their looks and renders them in native code; no Jinja runs. The contents of the
messages are put in only after tokenising, as plain text, so that `<|im_end|>` in a passage is eight harmless letters
and not the end of a turn.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence

from ekr.errors import ModelError
from ekr.models.base import Message
from ekr.models.native_llama import NativeModel

_PLACE = "§ekr{}§"
_PLACES = re.compile(r"§ekr(\d+)§")
_FALLBACK = b"chatml"


def chat_tokens(model: NativeModel, messages: Sequence[Message]) -> list[int]:
    """Tokens of the chat up to where the assistant's answer begins. Raises ModelError."""
    rendered = _render(model, messages)
    parts = _PLACES.split(rendered)
    tokens: list[int] = []
    for i, part in enumerate(parts):
        if i % 2:
            tokens += model.tokens(messages[int(part)].content)
        elif part or i == 0:
            tokens += model.tokens(part, special=True, add_special=i == 0)
    return tokens


def _render(model: NativeModel, messages: Sequence[Message]) -> str:
    lib = model.lib
    if not messages:
        raise ModelError("a chat needs at least one message")
    turns = (lib.llama_chat_message * len(messages))(
        *(lib.llama_chat_message(m.role.encode(), _PLACE.format(i).encode()) for i, m in enumerate(messages))
    )
    own = model.template()
    for template in [own.encode()] if own else []:
        rendered = _apply(lib, template, turns)
        if rendered is not None and len(_PLACES.findall(rendered)) == len(messages):
            return rendered
    rendered = _apply(lib, _FALLBACK, turns)
    if rendered is None:
        raise ModelError(f"{model.path.name}: its chat format is not known; choose another generator")
    return rendered


def _apply(lib: object, template: bytes, turns: ctypes.Array[ctypes.Structure]) -> str | None:
    size = 4096 + 128 * len(turns)
    buffer = ctypes.create_string_buffer(size)
    apply = lib.llama_chat_apply_template  # type: ignore[attr-defined]
    count = apply(template, turns, len(turns), True, buffer, size)
    return buffer.raw[:count].decode("utf-8", "replace") if 0 < count <= size else None
