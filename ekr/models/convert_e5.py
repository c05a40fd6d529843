"""Turn the packed 4-bit multilingual-e5-small into an int8 ONNX encoder that onnxruntime runs.

The packed file is little endian: the magic `E5S1` and a u32 version; i32 hidden, layers, heads, inner size,
vocabulary, positions, token types; f32 epsilon, i32 block size; i32 pieces and four special ids; u64 size of the
piece blob; (pieces + 1) u32 offsets; f32 scores; the blob; i32 entries and u32 bytes of a normalisation map and the
map; i32 tensors, then for each a u16 length and name, u8 type, u32 count, u64 offset, u64 bytes. A 4-bit block holds
32 weights: an f16 scale, then 16 bytes whose low nibbles are weights 0-15 and high nibbles 16-31, each minus 8.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ekr.errors import ModelError

Array = npt.NDArray[Any]
_BLOCK_BYTES = 18
_OPSET = 17


class PackedEncoder:
    """The packed file: its dimensions, and its tensors by name."""

    def __init__(self, path: Path) -> None:
        self._raw = path.read_bytes()
        if self._raw[:4] != b"E5S1":
            raise ModelError(f"{path.name} is not a packed e5 file; remove it and pull again")
        self.hidden, self.layers, self.heads, self.inner, self.vocabulary = self._unpack("<5i", 8)
        (self.epsilon,) = self._unpack("<f", 36)
        (pieces,) = self._unpack("<i", 44)
        (blob,) = self._unpack("<Q", 64)
        position = 72 + (pieces + 1) * 4 + pieces * 4 + blob
        _, normalisation = self._unpack("<iI", position)
        position += 8 + normalisation
        (count,) = self._unpack("<i", position)
        position += 4
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = self._unpack("<H", position)
            name = self._raw[position + 2 : position + 2 + length].decode()
            _, _, offset, size = self._unpack("<BIQQ", position + 2 + length)
            self._places[name] = (offset, size)
            position += 2 + length + 21

    def _unpack(self, layout: str, offset: int) -> tuple[Any, ...]:
        return struct.unpack_from(layout, self._raw, offset)

    def floats(self, name: str) -> Array:
        """A float32 tensor, flat."""
        offset, size = self._places[name]
        return np.frombuffer(self._raw, np.float32, size // 4, offset)

    def matrix(self, name: str, rows: int, columns: int) -> Array:
        """A 4-bit tensor as float32 of shape (rows, columns)."""
        offset, _ = self._places[name]
        size = rows * columns // 32 * _BLOCK_BYTES
        blocks = np.frombuffer(self._raw, np.uint8, size, offset).reshape(-1, _BLOCK_BYTES)
        scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        nibbles = blocks[:, 2:]
        weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8
        return (weights * scale).reshape(rows, columns)


class _GraphBuilder:
    """Collects the nodes and constants of an ONNX graph."""

    def __init__(self, packed: PackedEncoder) -> None:
        self.packed = packed
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Array) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        weight = self.constant(f"{name}.weight", self.packed.matrix(f"{name}.w", rows, columns).T)
        bias = self.constant(f"{name}.bias", self.packed.floats(f"{name}.b"))
        return self.node("Add", [self.node("MatMul", [x, weight], f"{name}.product"), bias], f"{name}.out")

    def norm(self, x: str, name: str, output: str) -> str:
        scale = self.constant(f"{name}.scale", self.packed.floats(f"{name}.w"))
        shift = self.constant(f"{name}.shift", self.packed.floats(f"{name}.b"))
        epsilon = float(self.packed.epsilon)
        return self.node("LayerNormalization", [x, scale, shift], output, axis=-1, epsilon=epsilon)

    def embeddings(self) -> str:
        from onnx import TensorProto

        packed = self.packed
        quantised, scale, zero = _uint8(packed.matrix("emb.word", packed.vocabulary, packed.hidden))
        self.constant("words", quantised)
        self.constant("words.scale", scale)
        self.constant("words.zero", zero)
        token_type = packed.floats("emb.type").reshape(-1, packed.hidden)[0]
        self.constant("places", packed.floats("emb.pos").reshape(-1, packed.hidden) + token_type)
        self.constant("zero", np.array([0], np.int64))
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        self.node("Slice", ["places", "zero", "length", "zero"], "place")
        row = self.node("Gather", ["words", "input_ids"], "word.uint8")
        # spelt out: the quantiser takes a graph that holds DequantizeLinear for one already quantised
        row = self.node("Cast", [row], "word.cast", to=TensorProto.FLOAT)
        word = self.node("Mul", [self.node("Sub", [row, "words.zero"], "word.off"), "words.scale"], "word")
        return self.norm(self.node("Add", [word, "place"], "embedded"), "emb.ln", "layer.in")

    def mask(self) -> None:
        from onnx import TensorProto

        self.constant("one", np.array(1, np.float32))
        self.constant("masked", np.array(-10000, np.float32))
        self.constant("mask.axes", np.array([1, 2], np.int64))
        self.node("Cast", ["attention_mask"], "mask.f32", to=TensorProto.FLOAT)
        self.node("Mul", [self.node("Sub", ["one", "mask.f32"], "mask.off"), "masked"], "mask.flat")
        self.node("Unsqueeze", ["mask.flat", "mask.axes"], "mask")

    def attention(self, x: str, p: str) -> str:
        hidden = self.packed.hidden
        heads = {}
        for key, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            y = self.node("Reshape", [self.linear(x, f"{p}.{key}", hidden, hidden), "split"], f"{p}.{key}.split")
            heads[key] = self.node("Transpose", [y], f"{p}.{key}.heads", perm=order)
        scores = self.node("Mul", [self.node("MatMul", [heads["q"], heads["k"]], f"{p}.qk"), "root"], f"{p}.scaled")
        weights = self.node("Softmax", [self.node("Add", [scores, "mask"], f"{p}.scores")], f"{p}.weights", axis=-1)
        mixed = self.node("MatMul", [weights, heads["v"]], f"{p}.mixed")
        joined = self.node("Transpose", [mixed], f"{p}.mixed.t", perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", [joined, "join"], f"{p}.context"), f"{p}.ao", hidden, hidden)

    def feed_forward(self, x: str, p: str) -> str:
        packed = self.packed
        f = self.linear(x, f"{p}.fi", packed.inner, packed.hidden)
        erf = self.node("Erf", [self.node("Mul", [f, "sqrt_half"], f"{p}.erf.in")], f"{p}.erf")
        twice = self.node("Mul", [f, self.node("Add", [erf, "one"], f"{p}.erf.1")], f"{p}.gelu2")
        return self.linear(self.node("Mul", [twice, "half"], f"{p}.gelu"), f"{p}.fo", packed.hidden, packed.inner)

    def encoder(self) -> Any:
        """A BERT encoder: input_ids, attention_mask (batch, sequence) to hidden state (batch, sequence, hidden)."""
        from onnx import TensorProto, helper

        packed = self.packed
        head = packed.hidden // packed.heads
        x = self.embeddings()
        self.mask()
        self.constant("split", np.array([0, 0, packed.heads, head], np.int64))
        self.constant("join", np.array([0, 0, packed.hidden], np.int64))
        self.constant("root", np.array(1 / np.sqrt(head), np.float32))
        self.constant("sqrt_half", np.array(1 / np.sqrt(2), np.float32))
        self.constant("half", np.array(0.5, np.float32))
        for i in range(packed.layers):
            p = f"l{i}"
            attended = self.node("Add", [self.attention(x, p), x], f"{p}.sum1")
            y = self.norm(attended, f"{p}.aln", f"{p}.attended")
            end = "last_hidden_state" if i == packed.layers - 1 else f"{p}.end"
            x = self.norm(self.node("Add", [self.feed_forward(y, p), y], f"{p}.sum2"), f"{p}.oln", end)
        shape = ["batch", "sequence"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info(x, TensorProto.FLOAT, [*shape, packed.hidden])
        graph = helper.make_graph(self.nodes, "e5", inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
        # the graph has nothing to simplify; without this mark the quantiser logs advice to the root logger
        helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
        return model


def _uint8(weights: Array) -> tuple[Array, Array, Array]:
    """Weights as uint8 with one scale and zero point; `weights` is overwritten, which halves the peak of memory.

    Done here and not by the quantiser, which would hold three copies of the 250,000 rows in float32.
    """
    low, high = weights.min(), weights.max()
    scale = np.float32((high - low) / np.float32(255))
    zero = np.rint(-low / scale)
    np.rint(np.divide(weights, scale, out=weights), out=weights)
    np.clip(np.add(weights, zero, out=weights), 0, 255, out=weights)
    return weights.astype(np.uint8), np.array(scale, np.float32), np.array(zero, np.float32)


def convert(source: Path, target: Path) -> None:
    """Write the packed file `source` as int8 ONNX: `target` (the graph) and `target`.data (the weights).

    Weights are quantised to int8, activations at run time (onnxruntime's dynamic quantisation). The weights lie in a
    file of their own because onnxruntime then maps them instead of copying: a session opens in 0.04 s, not 0.16 s.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    full = target.with_suffix(".f32.onnx")
    single = target.with_suffix(".int8.onnx")
    weights = target.with_name(f"{target.name}.data")
    weights.unlink(missing_ok=True)  # onnx appends to what is there
    try:
        onnx.save(_GraphBuilder(PackedEncoder(source)).encoder(), full)
        options = {"MatMulConstBOnly": True}
        quantize_dynamic(
            full,
            single,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
            extra_options=options,
        )
        onnx.save(
            onnx.load(single),
            target,
            save_as_external_data=True,
            location=weights.name,
            size_threshold=1024,
        )
    finally:
        full.unlink(missing_ok=True)
        single.unlink(missing_ok=True)
