"""A path → one set of declarations: includes gathered, `extends` laid over.

In: the file of a model or plan → Out: `Joined`, with the place of every entry kept, and diagnostics.
Invariant: includes stay inside their file's folder; nothing is read but YAML files; the same names on every machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path

from capgraph.declarations import FileDecl
from capgraph.decode import decode
from capgraph.diagnostics import Diagnostic, Source, Span, did_you_mean, has_errors, known_names
from capgraph.lay import Joined, Layer
from capgraph.resources import models_root
from capgraph.yamltree import MAX_BYTES, Scalar, read

MAX_FILES = 200
_OF_THE_FIRST_FILE = ("model", "plan", "extends", "title", "description", "as_of")
_SUFFIXES = (".yaml", ".yml")
# Reports are files of this name.
_ID = re.compile(r"\w[\w.+-]*")


def shipped_models() -> tuple[str, ...]:
    """Return the names of the models that ship."""
    return tuple(sorted(folder.parent.name for folder in models_root().glob("*/model.yaml")))


def locate(argument: str) -> Path | Diagnostic:
    """Find the file that a command line names: a YAML file, a folder with `model.yaml`, or a shipped model."""
    path = Path(argument)
    shipped = models_root() / argument / "model.yaml"
    if _is_dir(path):
        inside = next((path / name for name in ("model.yaml", "plan.yaml") if (path / name).is_file()), None)
        if inside is None and not (_is_name(argument) and shipped.is_file()):
            return Diagnostic(
                "CG116",
                f"the folder {argument} has no model.yaml",
                None,
                "name the YAML file of the model or plan",
            )
        return inside or shipped
    if _is_file(path):
        return path
    if _is_name(argument) and _is_file(shipped):
        return shipped
    near = did_you_mean(argument, (*shipped_models(), *(entry.name for entry in Path().glob("*.yaml"))))
    help_text = near or f"models that ship: {known_names(shipped_models())}"
    return Diagnostic(
        "CG115", f"there is no file, folder or shipped model called `{argument}`", None, help_text
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return False


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_name(text: str) -> bool:
    return bool(text) and not any(char in text for char in "/\\.") and text not in ("..", ".")


def join(path: Path) -> tuple[Joined | None, tuple[Diagnostic, ...]]:
    """Read a model or plan with everything it includes and extends."""
    joiner = _Joiner()
    joined = joiner.load(path, None)
    return joined, tuple(joiner.found)


@dataclass
class _Joiner:
    found: list[Diagnostic] = field(default_factory=list)
    chain: list[Path] = field(default_factory=list)
    count: int = 0
    origin: Span | None = None
    """Where the file that was asked for begins."""
    read_files: list[tuple[str, str]] = field(default_factory=list)

    def load(self, path: Path, asked: Span | None) -> Joined | None:
        """Return the joined declarations of one model or plan, its parents first."""
        resolved = Path(os.path.realpath(path))
        if resolved in self.chain:
            hops = " → ".join(item.parent.name + "/" + item.name for item in (*self.chain, resolved))
            self.found.append(
                Diagnostic(
                    "CG114", f"`extends` runs in a circle: {hops}", asked, "let one of them stand alone"
                )
            )
            return None
        self.chain.append(resolved)
        files: list[tuple[Scalar | None, FileDecl]] = []
        head = self._gather(path, path.parent, asked, files, [resolved])
        if head is None:
            return None
        joined = self._parent(path, head)
        if joined is None or has_errors(self.found):
            return joined
        self._lay_head(joined, head, path)
        Layer(joined, self.found, is_plan=head.extends is not None).lay(
            tuple(declared for _, declared in files)
        )
        joined.files.extend(self.read_files)
        self.read_files = []
        return joined

    def _parent(self, path: Path, head: FileDecl) -> Joined | None:
        if head.extends is None:
            return Joined()
        gathered, self.read_files = self.read_files, []
        target = self._extended(path, head.extends)
        if isinstance(target, Diagnostic):
            self.found.append(target)
            return None
        parent = self.load(target, head.extends.span)
        self.read_files = gathered
        return parent

    def _extended(self, path: Path, name: Scalar) -> Path | Diagnostic:
        if Path(name).is_absolute():
            return Diagnostic(
                "CG113", f"`extends: {name}` is an absolute path", name.span, "write it relative to this file"
            )
        near = path.parent / name
        if _is_file(near / "model.yaml"):
            return near / "model.yaml"
        if _is_file(near) and near.suffix in _SUFFIXES:
            return near
        if _is_name(name) and _is_file(models_root() / name / "model.yaml"):
            return models_root() / name / "model.yaml"
        help_text = (
            did_you_mean(name, shipped_models()) or f"models that ship: {known_names(shipped_models())}"
        )
        return Diagnostic(
            "CG115",
            f"`extends: {name}` is neither a shipped model nor a file near this one",
            name.span,
            help_text,
        )

    def _gather(
        self,
        path: Path,
        root: Path,
        asked: Span | None,
        files: list[tuple[Scalar | None, FileDecl]],
        seen: list[Path],
    ) -> FileDecl | None:
        """Read one file and what it includes, in reading order."""
        self.count += 1
        if self.count > MAX_FILES:
            if self.count == MAX_FILES + 1:
                message = f"the model has more than {MAX_FILES} files"
                self.found.append(Diagnostic("CG117", message, asked, "join some of them"))
            return None
        declared = self._read(path, root, asked)
        if declared is None:
            return None
        self._check_head(declared, is_first=not files)
        files.append((None, declared))
        self.found.extend(wrong for name in declared.evidence if (wrong := self._wrong_evidence(path, root, name)))
        for name in declared.include:
            target = self._included(path, root, name, seen)
            if isinstance(target, Diagnostic):
                self.found.append(target)
            else:
                seen.append(target)
                self._gather(target, root, name.span, files, seen)
        return declared

    def _included(self, path: Path, root: Path, name: Scalar, seen: list[Path]) -> Path | Diagnostic:
        target = Path(os.path.realpath(path.parent / name))
        if not target.is_relative_to(os.path.realpath(root)):
            message = f"`{name}` lies outside the model's folder"
            return Diagnostic(
                "CG113",
                message,
                name.span,
                "include files of the model's own folder; use `extends` for a model elsewhere",
            )
        if target == seen[0]:
            message = f"`{name}` is the file that includes this one"
            return Diagnostic("CG114", message, name.span, "remove the line")
        if target in seen:
            return Diagnostic("CG114", f"`{name}` is included twice", name.span, "keep one of the two lines")
        if not _is_file(target):
            message = f"the included file `{name}` does not exist"
            way_out = did_you_mean(name, _yaml_near(path.parent)) or "check the name"
            return Diagnostic("CG109", message, name.span, way_out)
        if target.suffix not in _SUFFIXES:
            message = f"the included file `{name}` is no YAML file"
            return Diagnostic("CG109", message, name.span, "include files whose names end in .yaml")
        return target

    def _wrong_evidence(self, path: Path, root: Path, name: Scalar) -> Diagnostic | None:
        target = Path(os.path.realpath(path.parent / name))
        if not target.is_relative_to(os.path.realpath(root)):
            message, way_out = f"`{name}` lies outside the model's folder", "copy the file into the model's folder"
            return Diagnostic("CG113", message, name.span, way_out)
        if not _is_file(target):
            message, way_out = f"the file of measurements `{name}` does not exist", "check the name"
            return Diagnostic("CG109", message, name.span, way_out)
        return None

    def _lay_head(self, joined: Joined, head: FileDecl, path: Path) -> None:
        default = Path(os.path.realpath(path.parent)).name if path.name == "model.yaml" else path.stem
        named = head.model if head.extends is None else head.plan or head.model
        if named is not None and not _ID.fullmatch(named):
            fitting = re.sub(r"[^\w.+-]+", "-", named).strip("-.+") or "my-model"
            message = f"`{named}` cannot be the name of a model or plan: reports are files of that name"
            self.found.append(Diagnostic("CG205", message, named.span, f"write `{fitting}`"))
        name = str(named or re.sub(r"[^\w.+-]+", "-", default).strip("-.+") or "model")
        if head.extends is None:
            joined.model = name
        else:
            joined.plan = name
        joined.title = str(head.title or joined.title or joined.model)
        joined.description = str(head.description or joined.description)
        joined.as_of = head.as_of or joined.as_of
        joined.origin = self.origin

    def _check_head(self, declared: FileDecl, is_first: bool) -> None:
        """Report keys that have no effect where they stand."""
        lost = () if is_first else _OF_THE_FIRST_FILE
        for key in lost:
            if (value := getattr(declared, key)) is not None:
                message = f"`{key}` has no effect in a file that another one includes"
                way_out = "move it to the file that includes this one"
                self.found.append(Diagnostic("CG201", message, value.span, way_out))
        if declared.catalog is None and (declared.fields or declared.rows):
            key, entries = ("fields", declared.fields) if declared.fields else ("rows", declared.rows)
            message = f"`{key}` stands in a file that names no catalog"
            self.found.append(
                Diagnostic("CG202", message, next(iter(entries)).span, "add `catalog: my_catalog`")
            )

    def _read(self, path: Path, root: Path, asked: Span | None) -> FileDecl | None:
        shown = (
            os.path.relpath(path) if not path.is_absolute() or path.is_relative_to(Path.cwd()) else str(path)
        )
        name = f"{Path(os.path.realpath(root)).name}/{os.path.relpath(os.path.realpath(path), os.path.realpath(root))}"
        try:
            data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
        except OSError as error:
            self.found.append(
                Diagnostic(
                    "CG109",
                    f"{shown} cannot be read: {error.strerror}",
                    asked,
                    "check the path and its rights",
                )
            )
            return None
        if data is None:
            message = f"{shown} is larger than {MAX_BYTES // 1024**2} MiB"
            self.found.append(Diagnostic("CG111", message, asked, "split the model into several files"))
            return None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            text = data.decode("utf-8", "replace")
            first = len(data[: error.start].decode("utf-8"))
            place = Scalar.at(Source(name, text, shown), first, first + 1).span
            self.found.append(
                Diagnostic("CG110", f"{shown} is not UTF-8 text", place, "save the file as UTF-8")
            )
            return None
        source = Source(name.replace(os.sep, "/"), text, shown)
        tree, wrong = read(source)
        self.found.extend(wrong)
        if has_errors(wrong):
            return None
        start = Span(source, 1, 1, 1, 2)
        self.origin = self.origin or start
        declared, wrong = decode(tree, start)
        self.found.extend(wrong)
        self.read_files.append((source.name, sha256(data).hexdigest()))
        return declared


def _yaml_near(folder: Path) -> Iterator[str]:
    """Yield the YAML files of a folder and the folders in it; not all of a disk."""
    found = islice(chain(folder.glob("*.yaml"), folder.glob("*/*.yaml")), MAX_FILES)
    return (str(item.relative_to(folder)) for item in found)
