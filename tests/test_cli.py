"""The command line: what it prints, with which exit code, and what it leaves untouched."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from approving import approve
from compiling import inside
from typer.testing import CliRunner, Result

from capgraph import __version__
from capgraph.cli.main import app

MODEL = """
model: shop
title: A shop
as_of: 2026-11-30
quantities:
  users: {label: Users, value: 4_000, unit: user, range: [3000, 5000], min: 1, source: headcount, as_of: 2026-10-01}
  size: {label: Size, value: 2 GiB/user, unit: GiB/user, because: Mail and files., source: measured}
  stored: {label: Stored, unit: TiB, formula: users * size, because: Everyone's files are kept.}
  disk: {choose: disks, default: small, source: plan}
  disks: {label: Disks, unit: count, formula: ceil(stored / disk.capacity)}
  enough: {unit: yes/no, formula: disks * disk.capacity >= stored}
  spare: {value: 1, unit: count, source: plan}
  ratio: {unit: ratio, formula: disks / spare}
catalogs:
  disks:
    fields: {capacity: {unit: TB, label: Capacity}, vendor: {type: text}}
    rows:
      small: {name: "Small [4 TB]", capacity: 4, source: list}
      large: {name: Large, capacity: 20, vendor: B, source: list}
scenarios:
  base: {}
  big: {label: Twice as many, extends: base, set: {users: 8000, disk: large}}
  measured: {set: {stored: 9 TiB}}
checks:
  few: {condition: disks < 3, message: "{disks} disks of {disk}", severity: warning}
decision:
  question: Buy?
  options: {buy: {}, wait: {}}
  rules:
    - {when: disks > 2, option: buy, headline: "Buy {disks}."}
    - {option: wait, headline: "Wait with {disks}."}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the model and earlier reports of it."""
    (tmp_path / "shop.yaml").write_text(MODEL)
    (tmp_path / "out").mkdir()
    for kind in ("xlsx", "pdf", "html", "json"):
        (tmp_path / "out" / f"shop.{kind}").write_text(f"earlier {kind}")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    """Run a command in a folder, in this process; a bug raises here."""
    with inside(folder):
        result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def process(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder as a process of its own."""
    command = [sys.executable, "-m", "capgraph", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=_environment(**environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def _environment(**more: str) -> dict[str, str]:
    root = str(Path(__file__).parents[1])
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("NO_COLOR", "FORCE_COLOR", "SOURCE_DATE_EPOCH")
    }
    return {**kept, "PYTHONPATH": root, **more}


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return each file below a folder with its bytes and the time it was written."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# The text of `bad.yaml` (none: there is no such file), the exit code, the code of the message, and what it points at.
BAD = {
    "empty": ("", 1, "CG112", ""),
    "only comments": ("# nothing\n", 1, "CG112", "# nothing"),
    "wrong YAML": ("quantities:\n  x: [1\n", 1, "CG101", "[1"),
    "unknown key": ("quantities:\n  x: {valeu: 1}\n", 1, "CG201", "valeu"),
    "unknown name": (MODEL.replace("users * size", "usres * size"), 1, "CG401", "usres * size"),
    "unknown unit": (MODEL.replace("unit: TiB", "unit: TiBB"), 1, "CG501", "TiBB"),
    "unknown row": (MODEL.replace("disk: large", "disk: lrage"), 1, "CG302", "lrage"),
    "cycle": (MODEL.replace("disks / spare", "ratio + 1"), 1, "CG411", "ratio + 1"),
    "unit mismatch": (MODEL.replace("users * size", "users + size"), 1, "CG502", "users + size"),
    "division by zero": (MODEL.replace("users: 8000", "spare: 0"), 1, "CG601", "spare}\ncatalogs"),
    "missing include": ("include: [a.yaml]\n", 1, "CG109", "a.yaml"),
    "missing parent": ("extends: a.yaml\n", 1, "CG115", "a.yaml"),
    "no quantity": ("model: m\n", 1, "CG118", "model: m"),
    "missing": (None, 2, "CG115", None),
}


def place(text: str, what: str) -> str:
    """Return where something stands in `bad.yaml`, as a message says it."""
    before = text[: text.index(what)]
    return f"bad.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["build", "check", "eval", "why"])
def test_bad_input_is_one_message_and_earlier_reports_stay(folder: Path, case: str, command: str) -> None:
    text, exit_code, code, what = BAD[case]
    if text is not None:
        (folder / "bad.yaml").write_text(text)
    before = state(folder)
    arguments = {"build": ["bad.yaml", "-o", "out"], "why": ["ratio", "bad.yaml", "-s", "big"]}
    result = run(folder, command, *arguments.get(command, ["bad.yaml"]))
    assert result.exit_code == exit_code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    where = place(text, what) if text is not None and what is not None else ""
    assert line.startswith(f"{where}error[{code}]: ")
    assert re.search(r" \([^()]*\S.*\)$", line), f"no way out: {line}"
    assert state(folder) == before


def test_a_folder_without_a_model_is_told(folder: Path) -> None:
    result = run(folder, "check", "out")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "error[CG116]: the folder out has no model.yaml (name the YAML file of the model or plan)\n"
    )


def test_the_scenario_of_a_division_by_zero_is_named(folder: Path) -> None:
    text, *_ = BAD["division by zero"]
    assert text is not None
    (folder / "bad.yaml").write_text(text)
    says = "`ratio` has no value in the scenario `big`: division by zero: `spare` is 0"
    assert says in run(folder, "check", "bad.yaml").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build", "shop.yaml", "--only", "doc"], "CG801", "`doc` is not a report (reports: xlsx"),
        (["build", "shop.yaml", "--only", ","], "CG801", "names no report (reports: xlsx"),
        (["eval", "shop.yaml", "--scenario", "bgi"], "CG802", "unknown scenario `bgi` (did you mean `big`?)"),
        (["eval", "shop.yaml", "usres"], "CG803", "unknown quantity `usres` (did you mean `users`?)"),
        (["eval", "shop.yaml", "users=5"], "CG803", "(write `--set users=5` to set it)"),
        (["why", "usres", "shop.yaml"], "CG803", "unknown quantity `usres` (did you mean `users`?)"),
        (["why", "users", "shop.yaml", "-s", "bgi"], "CG802", "unknown scenario `bgi` (did you mean `big`?)"),
        (
            ["eval", "shop.yaml", "--set", "users"],
            "CG801",
            "--set:1:1: error[CG801]: `users` is not a setting",
        ),
        (["eval", "shop.yaml", "--set", "usres=1"], "CG304", "--set:1:1: "),
        (
            ["eval", "shop.yaml", "--set", "users=many"],
            "CG207",
            "--set:1:7: error[CG207]: `many` is not a number",
        ),
        (["eval", "shop.yaml", "--set", "users=0"], "CG307", "`users` is 0 user; it is at least 1"),
        (["eval", "shop.yaml", "--set", "size=3 GiBB"], "CG501", "--set:1:8: "),
        (["eval", "shop.yaml", "--set", "disk=tiny"], "CG302", "the catalog `disks` has no row `tiny`"),
        (["why", "ratio", "shop.yaml", "--set", "users=-1"], "CG307", "it is at least 1"),
        (["check", "shop"], "CG115", "(did you mean `shop.yaml`?)"),
        (["check", "x" * 5000], "CG115", "there is no file"),
        (["check", "/dev/null"], "CG115", "there is no file"),
    ],
)
def test_wrong_use_is_one_message_and_exit_2(
    folder: Path, arguments: list[str], code: str, says: str
) -> None:
    before = state(folder)
    result = run(folder, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert f"error[{code}]: " in line
    assert says in line
    assert state(folder) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "xml", "check"], "none of full, concise, json"),
        (["eval", "--json", "--csv"], "one of --json and --csv"),
        (["bogus"], "No such command"),
        (["check", "--bogus"], "No such option"),
        (["why"], "Missing argument"),
        (["eval", "--set"], "requires an argument"),
    ],
)
def test_what_no_command_takes_is_wrong_use(folder: Path, arguments: list[str], says: str) -> None:
    result = run(folder, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_a_value_that_set_makes_impossible_is_exit_1(folder: Path) -> None:
    result = run(folder, "eval", "shop.yaml", "--set", "spare=0", "-s", "base")
    assert result.exit_code == 1
    assert "`ratio` has no value in the scenario `base`: division by zero" in result.stderr


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda out: out.write_text("a file"), "out is a file; reports need a folder"),
        (lambda out: (out.parent / "out").symlink_to("nowhere/at/all"), "out cannot be written: "),
        (lambda out: (out / "shop.json").mkdir(parents=True), "out/shop.json is a folder"),
    ],
)
def test_an_output_folder_that_cannot_be_written_is_told(tmp_path: Path, make: object, says: str) -> None:
    assert callable(make)
    (tmp_path / "shop.yaml").write_text(MODEL)
    make(tmp_path / "out")
    before = state(tmp_path)
    result = run(tmp_path, "build", "shop.yaml", "-o", "out", "--only", "json,html")
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert "with -o" in result.stderr
    assert "error[CG701]" in result.stderr
    assert state(tmp_path) == before


def test_a_file_on_the_way_to_the_output_folder_is_told(folder: Path) -> None:
    result = run(folder, "build", "shop.yaml", "-o", "shop.yaml/out", "--only", "json")
    assert result.exit_code == 2
    assert "error[CG701]: shop.yaml/out cannot be written: Not a directory" in result.stderr


@pytest.mark.parametrize("lock", [".~lock.shop.{kind}#", "~$shop.{kind}"])
@pytest.mark.parametrize("kind", ["json", "xlsx"])
def test_a_report_that_is_open_elsewhere_is_left_alone(folder: Path, lock: str, kind: str) -> None:
    (folder / "out" / lock.format(kind=kind)).write_text("someone")
    before = state(folder)
    result = run(folder, "build", "shop.yaml", "-o", "out", "--only", kind)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error[CG702]: out/shop.{kind} is open in another program (close it" in result.stderr
    assert state(folder) == before
    other = run(folder, "build", "shop.yaml", "-o", "elsewhere", "--only", "json")
    assert other.exit_code == 0


def test_build_writes_what_is_asked_for_and_no_more(folder: Path) -> None:
    before = state(folder)
    result = run(folder, "build", "shop.yaml", "-o", "out", "--only", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    after = state(folder)
    assert {name for name in after if after[name] != before.get(name)} == {"out/shop.json"}
    assert json.loads(after["out/shop.json"][0])["model"] == "shop"
    assert result.stdout.startswith("Wait with 3.\n\n  out/shop.json  (") or "Buy 3." in result.stdout


def test_reports_go_to_a_folder_of_the_plans_name(folder: Path) -> None:
    result = run(folder, "build", "shop.yaml", "--only", "json")
    assert result.exit_code == 0
    assert (folder / "reports" / "shop" / "shop.json").is_file()


def test_without_a_plan_the_one_in_the_folder_is_taken(folder: Path) -> None:
    (folder / "plan.yaml").write_text("extends: shop.yaml\nplan: mine\n")
    assert run(folder, "check").stdout.startswith("mine: no errors.")
    assert json.loads(run(folder, "eval", "--json").stdout)["plan"] == "mine"
    (folder / "plan.yaml").unlink()
    assert run(folder, "check").stdout.startswith("llm-serving: no errors.")


def test_check_says_what_was_checked_and_which_checks_fail(folder: Path) -> None:
    result = run(folder, "check", "shop.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    approve("check.txt", result.stdout)


def test_json_has_the_documented_shape(folder: Path) -> None:
    result = run(folder, "eval", "shop.yaml", "stored", "disk", "enough", "-s", "base", "-s", "big", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    approve("eval.json", result.stdout)
    document = json.loads(result.stdout)
    assert list(document) == ["model", "plan", "scenarios"]
    assert list(document["scenarios"]) == ["base", "big"]
    for scenario in document["scenarios"].values():
        assert list(scenario) == ["values", "checks", "verdict"]
        assert all(set(entry) == {"value", "unit"} for entry in scenario["values"].values())
        assert all(set(entry) == {"pass", "severity", "message"} for entry in scenario["checks"].values())
        assert set(scenario["verdict"]) == {"option", "headline"}


def test_a_model_that_decides_nothing_has_no_verdict(folder: Path) -> None:
    (folder / "small.yaml").write_text("quantities: {x: {value: 1, unit: count, source: s}}\n")
    document = json.loads(run(folder, "eval", "small.yaml", "--json").stdout)
    assert document["scenarios"]["base"] == {
        "values": {"x": {"value": 1.0, "unit": "count"}},
        "checks": {},
        "verdict": None,
    }


def test_eval_takes_scenarios_quantities_and_settings(folder: Path) -> None:
    arguments = ["shop.yaml", "disks", "stored", "disk", "-s", "big", "-s", "base", "--json"]
    document = json.loads(
        run(folder, "eval", *arguments, "--set", "users=1_000", "--set", "size=4096 MiB/user").stdout
    )
    assert list(document["scenarios"]) == ["big", "base"]
    values = document["scenarios"]["big"]["values"]
    assert {name: entry["value"] for name, entry in values.items()} == {
        "disks": 1.0,
        "stored": 4000 / 1024,
        "disk": "large",
    }
    assert values["stored"]["unit"] == "TiB"


def test_eval_tells_a_plan_from_a_quantity(folder: Path) -> None:
    (folder / "plan.yaml").write_text("extends: shop.yaml\n")
    document = json.loads(run(folder, "eval", "stored", "-s", "base", "--json").stdout)
    assert list(document["scenarios"]["base"]["values"]) == ["stored"]


def test_a_table_for_people(folder: Path) -> None:
    result = run(folder, "eval", "shop.yaml")
    assert result.exit_code == 0
    approve("eval.txt", "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines()))


def test_what_looks_like_mark_up_is_shown_as_it_is(folder: Path) -> None:
    text = """
quantities:
  pick: {choose: ["a[b]", "[red]x[/red]"], source: s}
scenarios: {"x[/y]": {}, "[bold]s[/bold]": {set: {pick: "[red]x[/red]"}}}
"""
    (folder / "marks.yaml").write_text(text)
    shown = run(folder, "eval", "marks.yaml").stdout
    assert [line.split() for line in shown.splitlines() if line.strip()][::2] == [
        ["quantity", "x[/y]", "[bold]s[/bold]", "unit"],
        ["pick", "a[b]", "[red]x[/red]"],
    ]


def test_csv_gives_exact_numbers(folder: Path) -> None:
    result = run(folder, "eval", "shop.yaml", "--csv")
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(result.stdout))}
    assert rows["quantity"] == ["unit", "base", "big", "measured"]
    assert rows["stored"] == ["TiB", "7.8125", "15.625", "9.0"]
    assert rows["disk"] == ["", "small", "large", "small"]
    assert rows["enough"] == ["", "yes", "yes", "yes"]


def test_why_derives_a_number(folder: Path) -> None:
    result = run(folder, "why", "ratio", "shop.yaml", "--scenario", "big", "--set", "spare=2")
    assert (result.exit_code, result.stderr) == (0, "")
    approve("why.txt", result.stdout)


def test_why_stops_at_a_measured_value(folder: Path) -> None:
    result = run(folder, "why", "ratio", "shop.yaml", "--scenario", "measured")
    approve("why-measured.txt", result.stdout)
    assert "[users]" not in result.stdout


def test_a_missing_library_is_no_bug_and_costs_no_report(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    result = run(folder, "build", "shop.yaml", "-o", "unwritten")
    assert result.exit_code == 2
    assert "error[CG703]" in result.stderr
    assert "capgraph doctor" in result.stderr
    assert list((folder / "unwritten").iterdir()) == []


def test_diagnostics_as_json_are_one_document(folder: Path) -> None:
    (folder / "bad.yaml").write_text(
        MODEL.replace("users * size", "usres * size").replace("disk: large", "disk: lrage")
    )
    found = json.loads(run(folder, "--format", "json", "check", "bad.yaml").stderr)
    assert [item["code"] for item in found] == ["CG401", "CG302"]
    assert found[0] == {
        "code": "CG401",
        "severity": "error",
        "message": "unknown quantity `usres`",
        "file": "bad.yaml",
        "line": 8,
        "column": 47,
        "end_line": 8,
        "end_column": 52,
        "help": "did you mean `users`?",
        "note": "",
        "related": [],
    }
    assert json.loads(run(folder, "--format", "json", "check", "shop.yaml").stderr) == []
    assert json.loads(run(folder, "--format", "json", "check", "nope").stderr)[0]["file"] is None


def test_a_warning_is_shown_and_nothing_stops(folder: Path) -> None:
    (folder / "warn.yaml").write_text(MODEL.replace(", source: plan}", "}"))
    result = run(folder, "check", "warn.yaml")
    assert (result.exit_code, result.stdout.partition(".")[0]) == (0, "shop: no errors")
    assert [line.partition(" (")[0] for line in result.stderr.splitlines()] == [
        "warn.yaml:9:3: warning[CG212]: the input `disk` has no source",
        "warn.yaml:12:3: warning[CG212]: the input `spare` has no source",
    ]
    result = run(folder, "--format", "json", "eval", "warn.yaml", "--set", "spare=0")
    assert result.exit_code == 1
    assert [item["code"] for item in json.loads(result.stderr)] == ["CG212", "CG212", "CG601"]


def test_full_and_concise_say_the_same(folder: Path) -> None:
    (folder / "bad.yaml").write_text(MODEL.replace("users * size", "usres * size"))
    full = run(folder, "--format", "full", "check", "bad.yaml").stderr
    assert full.splitlines()[0] == "error[CG401]: unknown quantity `usres`"
    assert "  = help: did you mean `users`?" in full
    concise = run(folder, "--format", "concise", "check", "bad.yaml").stderr
    assert concise == "bad.yaml:8:47: error[CG401]: unknown quantity `usres` (did you mean `users`?)\n"


def test_version_and_help() -> None:
    assert run(Path(), "--version").stdout == f"{__version__}\n"
    for arguments in (["--help"], ["-h"], ["build", "-h"], ["why", "--help"]):
        result = run(Path(), *arguments)
        assert (result.exit_code, result.stderr) == (0, "")
    assert run(Path()).exit_code == 2


def test_a_wrong_source_date_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for epoch in ("yesterday", "9" * 30, "-1e3"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        result = run(folder, "build", "shop.yaml", "-o", "out", "--only", "json")
        assert result.exit_code == 2
        assert "error[CG801]: SOURCE_DATE_EPOCH" in result.stderr


# From here on the command runs as a process of its own.


def test_a_process_has_no_colour_in_a_pipe(folder: Path) -> None:
    (folder / "bad.yaml").write_text(MODEL.replace("users * size", "usres * size"))
    for arguments, exit_code in ((["--format", "full", "check", "bad.yaml"], 1), (["eval", "shop.yaml"], 0)):
        done = process(folder, *arguments)
        assert "\x1b" not in done.stdout + done.stderr
        assert (done.returncode, "Traceback" in done.stderr) == (exit_code, False)


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """Run a command on a terminal, and return what it shows there."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "capgraph", *arguments]
    environment = {"TERM": "xterm-256color", "COLUMNS": "100", **environment}
    with subprocess.Popen(
        command, cwd=folder, env=_environment(**environment), stdout=slave, stderr=slave, stdin=slave
    ) as child:
        os.close(slave)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # Linux says so when the last writer is gone
            pass
        child.wait()
    os.close(master)
    return shown.decode()


def test_colour_only_on_a_terminal_and_never_with_no_color(folder: Path) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*(3|9)[0-7]m")
    shown = on_a_terminal(folder, "check", "nope")
    assert colour.search(shown)
    assert "= help:" in shown
    plain = on_a_terminal(folder, "check", "nope", NO_COLOR="1")
    assert not colour.search(plain)
    assert "error[CG115]" in plain


def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    command = [sys.executable, "-m", "capgraph", "eval", "llm-serving", "--json"]
    child = subprocess.Popen(
        command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 0


def test_an_output_that_is_closed_is_no_error(folder: Path) -> None:
    command = f"exec {sys.executable} -m capgraph check shop.yaml >&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_bug_says_so_and_is_exit_3(folder: Path) -> None:
    command_that_fails = "@main.app.command()\ndef fail() -> None:\n    raise KeyError('x')\n"
    script = f"from capgraph.cli import main\n{command_that_fails}main.run()\n"
    for arguments, shown in ((["fail"], False), (["--traceback", "fail"], True)):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(
            command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
        )
        assert ("Traceback" in done.stderr) == shown
        if not shown:
            assert done.returncode == 3
            assert done.stderr.startswith(
                "error[CG900]: this is a bug of capgraph: KeyError: 'x'\n  = help: "
            )
