"""The repository keeps its own rules: sizes, rooms, notebooks, nothing of one machine."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    *("formulas", "inputs", "pipeline", "readers", "parallel", "answer", "evidence", "planning"),
    *("book", "cli"),
)
LOGIC = (
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.While,
    ast.If,
    ast.Try,
    ast.BinOp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git knows; a test that asks is skipped where there is no checkout."""
    words = ["git", "ls-files", "--", *patterns]
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.splitlines() if (path := ROOT / name).is_file()]


def relative(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in found]


# Sizes


def test_no_file_is_over_300_lines() -> None:
    code = tracked("src/**.py", "tests/**.py", "bench/**.py", "book/web/**", "book/_static/**.js")
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in code}
    assert len(lengths) > 50
    assert relative([path for path, lines in lengths.items() if lines > 300]) == []


def test_no_function_of_the_package_is_over_40_lines() -> None:
    long = []
    for path in tracked("src/**.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                # What it does: neither what it is called with nor what it says of itself.
                is_doc = ast.get_docstring(node) is not None and len(node.body) > 1
                lines = (node.end_lineno or 0) - node.body[is_doc].lineno + 1
                if lines > 40:
                    long.append(f"{path.relative_to(ROOT)}:{node.name} has {lines} lines")
    assert long == []


# Rooms


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "steptime" and parts[1] in ROOMS else None


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        found.update(room for name in names if (room := room_of(name)))
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    folder = ROOT / "src" / "steptime" / room
    wrong = {
        path.relative_to(ROOT).as_posix(): sorted(imported_rooms(path) - allowed)
        for path in folder.rglob("*.py")
        if imported_rooms(path) - allowed
    }
    assert wrong == {}


def modules() -> dict[str, Path]:
    """Return every module of the package by its name; a folder's is its ``__init__``."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported(path: Path, known: Iterable[str]) -> set[str]:
    """Return the modules that a file imports anywhere, for types or inside a function too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(inner & set(known) or {node.module})
    return found & set(known)


def circle(needs: dict[str, set[str]]) -> list[str]:
    """Return what is left when everything that needs nothing more is taken away, again and again.

    Empty where no names need each other in a circle.
    """
    left = {name: set(others) for name, others in needs.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_no_file_needs_itself_in_a_circle() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    every = modules()
    # The package's own file names its public face for the type check alone.
    needs = {name: imported(path, every) for name, path in every.items() if name != "steptime"}
    assert len(needs) > 200
    assert circle(needs) == []


def test_no_folder_of_readers_needs_itself_in_a_circle() -> None:
    every = {name: path for name, path in modules().items() if name.count(".") > 1}
    folders: dict[str, set[str]] = {}
    for name, path in every.items():
        _, room, own, *_ = name.split(".")
        if room == "readers":
            near = [one for one in imported(path, every) if one.startswith("steptime.readers.")]
            folders.setdefault(own, set()).update({one.split(".")[2] for one in near} - {own})
    assert len(folders) > 10
    assert circle(folders) == []


def test_every_room_has_its_place_in_the_order() -> None:
    folders = {path.parent.name for path in (ROOT / "src" / "steptime").glob("*/__init__.py")}
    assert folders == set(ROOMS)


def test_the_core_imports_with_the_standard_library_alone() -> None:
    code = """
import importlib, pkgutil, sys
class Gate:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top != "steptime" and top not in sys.stdlib_module_names:
            raise ImportError(f"the core must not need {name}")
sys.meta_path.insert(0, Gate())
import steptime, steptime.evidence, steptime.planning, steptime.cli
count = 0
for room in ("inputs", "formulas", "pipeline", "readers", "answer"):
    package = importlib.import_module(f"steptime.{room}")
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
        count += 1
print(count)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_the_package_ships_its_types() -> None:
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "Typing :: Typed" in settings["project"]["classifiers"]
    # The wheel holds every file of this folder that git knows.
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/steptime"]
    assert relative(tracked("src/steptime/py.typed")) == ["src/steptime/py.typed"]


# Notebooks


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_notebook_is_committed_as_sources_only(path: Path) -> None:
    for cell in cells(path):
        assert "papermill" not in cell["metadata"]
        assert "execution" not in cell["metadata"]
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_notebook_holds_no_logic(path: Path) -> None:
    for place, cell in enumerate(cells(path)):
        if cell["cell_type"] != "code" or "parameters" in cell["metadata"].get("tags", []):
            continue
        assert len(cell["source"].splitlines()) <= 12, f"cell {place} is over 12 lines"
        found = [n for n in ast.walk(ast.parse(cell["source"])) if isinstance(n, LOGIC)]
        said = [f"cell {place}: {ast.unparse(node)[:80]}" for node in found]
        assert said == [], "move it to steptime.book.study"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_notebook_has_its_parts(path: Path) -> None:
    every = cells(path)
    tags = [tag for cell in every for tag in cell["metadata"].get("tags", [])]
    number = path.stem.partition("_")[0]
    assert every[0]["source"].startswith(f"# §{number} ")
    assert tags.count("parameters") == 1
    assert "results" in tags
    assert any(cell["source"].lstrip().startswith("**Reading.**") for cell in every)


# Nothing of one machine


def test_no_machine_path_and_no_package_host() -> None:
    # Put together here, so that this file does not hold what it looks for.
    hosts = ["files.python" + "hosted", "py" + "pi.org", "registry.npm" + "js", "deb.deb" + "ian"]
    paths = ["/wo" + "rk/", "/ro" + "ot/", "/tmp/ba" + "sh_jobs", "/ho" + "me/"]
    # The path of an address may have a folder of such a name: it comes after a host.
    starts = [rf"(?<![\w.-]){re.escape(one)}" for one in paths]
    pattern = re.compile("|".join([*map(re.escape, hosts), *starts]))
    assert [hit[0] for hit in pattern.finditer(f"https://a.org{paths[3]}x {paths[3]}me")] == [
        paths[3]
    ]
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in pattern.finditer(text)]
    assert found == []


def test_no_browser_test_evaluates_in_the_page() -> None:
    # It passes while the first try succeeds, and fails by the pages' policy against eval when not.
    calls = [
        str(path)
        for path in (ROOT / "tests" / "browser").rglob("*.py")
        if ".wait_for_function(" in path.read_text(encoding="utf-8")
    ]
    assert calls == []


def test_the_lock_is_hashed_and_holds_every_group() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[a-z0-9])", lock)
    assert len(blocks) > 100
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    names = {re.split(r"[=\[]", block)[0].strip() for block in blocks}
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for group, wanted in project["optional-dependencies"].items():
        for requirement in wanted:
            name = re.split(r"[<>=\[!~; ]", requirement)[0].lower().replace("_", "-")
            assert name in names | {"steptime"}, f"{group}: {name} is not in the lock: make lock"


def test_version_is_the_same_everywhere() -> None:
    import steptime

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == steptime.__version__
    assert f"## {steptime.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
