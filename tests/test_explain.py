"""The pages on diagnostics: one for each code, and their examples are run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from compiling import run_path
from typer.testing import CliRunner

from capgraph.cli.main import app
from capgraph.reference.codes import Example, codes, page, stage

ROOT = Path(__file__).parent.parent
# Nobody can show a bug that is not there, nor miss a library that is.
WITHOUT_EXAMPLE = {"CG703", "CG704", "CG900"}
# An example that shows one line of a model does not go on to use what it declares.
OF_SHORT_EXAMPLES = {"CG221"}
SECTIONS = ["Wrong", "Right", "The way out"]


def codes_of_the_source() -> set[str]:
    """Return every code that a module of the package names."""
    files = (ROOT / "capgraph").rglob("*.py")
    return {code for file in files for code in re.findall(r"\bCG\d{3}\b", file.read_text("utf-8"))}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert set(codes()) == codes_of_the_source()


def found_codes(example: Example, folder: Path) -> set[str]:
    """Run an example in a folder and return the codes that it leads to; without commands, `model.yaml` is checked."""
    for name, text in example.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    if not example.commands:
        return {item.code for item in run_path(folder / "model.yaml").found}
    found: set[str] = set()
    for command in example.commands:
        if not command.startswith("capgraph "):
            subprocess.run(command, shell=True, check=True, cwd=folder)
            continue
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        found |= set(re.findall(r"\[(CG\d{3})\]", result.stderr))
        assert (result.exit_code == 0) == ("error[" not in result.stderr), result.output
    return found


@pytest.mark.parametrize("code", codes())
def test_a_page_has_its_parts(code: str) -> None:
    found = page(code)
    assert found.code == code
    assert re.findall(r"^## (.+)$", found.text, re.MULTILINE) == (
        SECTIONS[2:] if code in WITHOUT_EXAMPLE else SECTIONS
    )
    meaning, *_, way_out = re.split(r"^## .+$", found.text, flags=re.MULTILINE)
    assert len(meaning.split()) >= 15
    assert len(way_out.split()) >= 5
    assert not found.title.endswith(".")
    assert stage(code)


@pytest.mark.parametrize("code", sorted(set(codes()) - WITHOUT_EXAMPLE))
def test_the_wrong_example_leads_to_its_code_alone(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = page(code).example("Wrong")
    assert example is not None
    assert found_codes(example, tmp_path) == {code}


@pytest.mark.parametrize("code", sorted(set(codes()) - WITHOUT_EXAMPLE))
def test_the_right_example_is_right(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = page(code).example("Right")
    assert example is not None
    assert found_codes(example, tmp_path) <= OF_SHORT_EXAMPLES
