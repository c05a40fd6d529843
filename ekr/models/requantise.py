"""Re-quantise a GGUF file to Q4_0, the type whose CPU kernels are the fastest for small models."""

from __future__ import annotations

import ctypes
from pathlib import Path

from ekr.errors import ModelError


def to_q4_0(source: Path, target: Path) -> None:
    """Write `source` as Q4_0 to `target`. Raises ModelError when llama.cpp refuses."""
    from ekr.models.llama_library import load_llama

    llama_cpp = load_llama()
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0
    parameters.allow_requantize = True
    code = llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(parameters))
    if code != 0 or not target.is_file():
        raise ModelError(f"{source.name} could not be re-quantised (code {code}); remove it and pull again")
