"""Artifacts → files, whole or not at all.

In: artifacts and a folder → Out: their paths, or a diagnostic.
Invariant: earlier reports stay as they are until every new one is written; no file is ever half written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from capgraph.diagnostics import Diagnostic
from capgraph.emit.artifact import Artifact


def refusal(folder: Path, names: Sequence[str]) -> Diagnostic | None:
    """Say why reports could not be written to a folder, before any work is done."""
    for name in names:
        if (folder / name).is_dir():
            message = f"{folder / name} is a folder; a report of that name cannot be written"
            return Diagnostic("CG701", message, None, "rename the folder, or write elsewhere with -o")
        for lock in (folder / f".~lock.{name}#", folder / f"~${name}"):
            if lock.exists():
                message = f"{folder / name} is open in another program"
                return Diagnostic(
                    "CG702",
                    message,
                    None,
                    f"close it (or remove {lock} if it is not), or write elsewhere with -o",
                )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return _unwritable(folder, error)


def write_files(folder: Path, artifacts: Sequence[Artifact]) -> tuple[Path, ...] | Diagnostic:
    """Write all artifacts to temporary files, then put them in place."""
    staged: list[tuple[Path, Path]] = []
    try:
        for artifact in artifacts:
            handle, temporary = tempfile.mkstemp(prefix=f".{artifact.name}.", dir=folder)
            staged.append((Path(temporary), folder / artifact.name))
            with os.fdopen(handle, "wb") as file:
                file.write(artifact.data)
            Path(temporary).chmod(0o666 & ~_umask())
        for source, target in staged:
            source.replace(target)
    except OSError as error:
        for source, _ in staged:
            source.unlink(missing_ok=True)
        return _unwritable(folder, error)
    return tuple(target for _, target in staged)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(folder: Path, error: OSError) -> Diagnostic:
    if folder.exists() and not folder.is_dir():
        message = f"{folder} is a file; reports need a folder"
        return Diagnostic("CG701", message, None, "choose another folder with -o, or move the file")
    what = error.filename2 or error.filename or folder
    shown = folder if str(what).startswith(str(folder / ".")) or not isinstance(what, str) else what
    return Diagnostic(
        "CG701",
        f"{shown} cannot be written: {error.strerror}",
        None,
        "choose another folder with -o, or free this one",
    )
