"""Write the layout explorer: its data, its arithmetic and what stands there without JavaScript.

What is written by hand is in ``book/web/explorer``. Run ``python -m steptime.book.explorer_page
OUT_DIR`` for a folder that any web server can show: ``OUT_DIR/explorer/index.html``.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

from steptime.book.alone_page import AlonePage, alone_html
from steptime.book.explorer_bundle import scripts
from steptime.book.explorer_data import explorer_data
from steptime.book.explorer_first import first_answer
from steptime.book.explorer_named import named_data
from steptime.book.explorer_state import asked_fields
from steptime.book.explorer_static import fragment
from steptime.book.figure_page import WEB, style_text
from steptime.book.formula_short import short_bodies
from steptime.book.formula_text import formula_texts
from steptime.book.javascript import bundle
from steptime.book.minify import small_script, small_style
from steptime.book.packed import joined, packed_rows
from steptime.inputs.counted import COUNTED

OPENED = (
    "steptime.formulas.memory.total:rank_memory_bytes",
    "steptime.formulas.baseline:baseline_step",
    "steptime.formulas.baseline:step_s",
    "steptime.formulas.flops:num_microbatches",
    "steptime.formulas.roofline.step:roofline_step",
    "steptime.formulas.roofline.step:roofline_step_s",
    "steptime.formulas.parameters:num_parameters",
    "steptime.formulas.outcome:outcome",
)
"""The formulas that a reader can open behind a number."""
TABLES = (
    "steptime.formulas.schedules.v_half_table:V_HALF_FORMS",
    "steptime.formulas.schedules.v_min_table:V_MIN_FORMS",
)
"""Long constants that the formulas of one schedule each read: sent where it is asked for."""
ROOTS = (
    *OPENED,
    *TABLES,
    "steptime.formulas.validity:device_fault",
    "steptime.formulas.validity:layout_rule",
    "steptime.formulas.validity:layout_fault",
    "steptime.formulas.judgement:shares_weights",
    "steptime.formulas.ranks:weight_copies",
    "steptime.formulas.judgement:interval_s",
    "steptime.formulas.judgement:fit_verdict",
    "steptime.formulas.judgement:fit_outlook",
    "steptime.formulas.judgement:fit_probability",
    "steptime.formulas.roofline.context:head_ranks",
    "steptime.formulas.roofline.context:heads_left_over",
    "steptime.formulas.roofline.context:key_heads",
    "steptime.formulas.roofline.tensor:chunk_share",
    "steptime.formulas.ranks:stage_shared",
    "steptime.formulas.flops:attention_share",
    "steptime.formulas.flops:layer_pace_s",
    "steptime.formulas.flops:num_devices",
    "steptime.formulas.roofline.modules:full_share",
    "steptime.formulas.schedule_rules:schedule_rule",
    "steptime.formulas.schedule_rules:mended_sizes",
    "steptime.formulas.memory.states:unshared_bytes",
    "steptime.formulas.memory.total:worst_rank",
    "steptime.formulas.memory.total:memory_total_bytes",
)
"""The formulas that the page calls."""
OF_SOFTWARE = tuple(f"steptime.formulas.software_limits:{name}" for name in COUNTED)
"""Those that it calls where somebody names software."""

CHAIN = ("explorer/index.js", "explorer/app.js")
"""Modules whose scripts are fetched one after another: what draws the first answer, which is made
with the page, and what answers every state that is asked."""
LATER = ("explorer/later.js", "explorer/opened.js", "explorer/software.js", "explorer/given.js")
"""Modules that the page fetches: after its first answer, the form first of all, with the first
formula opened, with the first software that somebody names, and with the first copy in another
form."""

PAGE = AlonePage(
    name="explorer",
    element="layout",
    title="Layout explorer",
    about="Does a layout fit, and how long does a step take?",
    kind="st-alone",
    intro='<p class="st-intro">Cut a model over GPUs: does it fit, and where does the time of a '
    "step go?</p>",
)


def table_schedule(path: str) -> str:
    """Return the schedule whose formulas read a table: its file has the schedule's name.

    Args:
        path: Of ``TABLES``.
    """
    module = path.partition(":")[0].rpartition(".")[2]
    return module.removesuffix("_table").replace("_", "-")


def whole_numbers(value: Any) -> Any:
    """Return a value whose whole floats are integers: JavaScript has one kind, and ``.0`` weighs.

    Args:
        value: Anything that JSON can hold.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, dict):
        return {key: whole_numbers(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [whole_numbers(one) for one in value]
    return value


def module_text(name: str, value: Any) -> str:
    """Return an ES module that exports one value.

    Args:
        name: Of the export.
        value: Anything that JSON can hold.
    """
    plain = whole_numbers(value)
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"export const {name} = {text};\n"


KINDS = ("models", "accelerators")
"""What the data holds many records of."""
NAMES = ("key", "name", "group")
"""What a list to choose from shows of them."""
WORDS = ("faults", "schedule_faults", "precision_faults", "device_fault", "fields")
"""What a refusal is worded with: the first answer is none."""
PACKED = (*KINDS, "software", "schedules")


def _data_module(data: dict[str, Any]) -> str:
    packed = {name: packed_rows(one) if name in PACKED else one for name, one in data.items()}
    text = module_text("packed", packed).removeprefix("export ")
    head = 'import { unpacked } from "./unpack.js";'
    return f"{head}\n{text}export const data = unpacked(packed);\n"


def _all_data() -> dict[str, Any]:
    return {**explorer_data(), "tabled": [table_schedule(path) for path in TABLES]}


@functools.cache
def data_text() -> str:
    """Return the module of all data; records of one kind name their fields once."""
    return _data_module(_all_data())


def data_texts() -> tuple[str, str]:
    """Return the data that the first answer needs, and the module of what other ones need.

    The first has the name of every model and device, and all of the two that a page starts with.
    """
    data = _all_data()

    def part(rows: list[dict[str, Any]], named: bool) -> list[dict[str, Any]]:
        return [{k: v for k, v in one.items() if (k in NAMES) is named} for one in rows]

    rest = {kind: packed_rows(part(data[kind], named=False)) for kind in KINDS}
    rest["words"] = {name: data.pop(name) for name in WORDS}
    first = {kind: packed_rows(part(data[kind][:1], named=False)) for kind in KINDS}
    names = {kind: part(data[kind], named=True) for kind in KINDS}
    return _data_module({**data, **names, "first": first}), module_text("rest", rest)


def texts_text() -> str:
    """Return the script of the formulas as data: what is alike stands together, and packs well."""
    texts = formula_texts(OPENED, TABLES)
    # File by file: neighbours in the source say alike things.
    functions = dict(sorted(texts["functions"].items(), key=lambda one: str(one[1]["file"])))
    files = Counter(one["file"] for one in functions.values())
    columns = {name: [one[name] for one in functions.values()] for name in ("says", "from")}
    columns["args"] = [" ".join(one["args"]) for one in functions.values()]
    bodies = short_bodies([one["body"] for one in functions.values()])
    other = {key: one["name"] for key, one in functions.items() if "name" in one}
    names = {"functions": joined(list(functions)), "names": other}
    lists = {name: joined(values) for name, values in columns.items()}
    packed = {**texts, **names, "columns": lists, "files": files, "bodies": bodies}
    return module_text("packed", packed).replace("export const packed", "globalThis.stFormulaTexts")


def modules() -> dict[str, str]:
    """Return every module of the page by its path: written by hand, or made from Python."""
    return {**_made()}


@functools.cache
def _made() -> dict[str, str]:
    found = {
        path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted([*WEB.glob("explorer/*.js"), *WEB.glob("shared/*.js")])
    }
    found["explorer/asked.js"] = module_text("asked", asked_fields())
    found["explorer/data.js"], found["explorer/rest.js"] = data_text(), module_text("rest", None)
    found["explorer/tables-of-software.js"] = module_text("tables", named_data())
    found["explorer/formulas.js"] = bundle(*ROOTS)
    found["explorer/limits.js"] = bundle(*OF_SOFTWARE)
    found["explorer/first.js"] = module_text("first", first_answer(found))
    return found


def without_tables(text: str) -> tuple[str, dict[str, str]]:
    """Return the formulas with empty tables, and each table as it was written.

    Args:
        text: Of the module of formulas.
    """
    found = {}
    for path in TABLES:
        name = path.partition(":")[2]
        (line,) = (one for one in text.splitlines() if one.startswith(f"const {name}="))
        head, _, value = line.partition("=")
        found[name] = value.rstrip(";")
        text = text.replace(line, f"{head}={{}};")
    return text, found


def tables_text(tables: dict[str, str]) -> str:
    """Return the script that brings the tables.

    Args:
        tables: Each as it was written, by name.
    """
    inner = ",".join(f"{name}:{value}" for name, value in tables.items())
    return small_script(f"globalThis.stTables={{{inner}}};")


def write_modules(out: Path) -> None:
    """Write the modules one by one, as a test or another page may import them.

    Args:
        out: A folder.
    """
    for path, text in modules().items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, encoding="utf-8")


def write_explorer(out: Path) -> list[Path]:
    """Write the explorer, ready to be served, and return the files.

    Args:
        out: The folder that becomes part of the site's root.
    """
    stand_in = fragment()
    texts = modules()
    texts["explorer/formulas.js"], tables = without_tables(texts["explorer/formulas.js"])
    texts["explorer/data.js"], texts["explorer/rest.js"] = data_texts()
    first, app, later, opened, software, given = scripts(CHAIN, LATER, texts)
    made = {
        "explorer.html": stand_in,
        "explorer/index.html": alone_html(PAGE, stand_in),
        "explorer/index.js": first,
        "explorer/app.js": app,
        "explorer/later.js": later,
        "explorer/software.js": software,
        "explorer/given.js": given,
        "explorer/tables.js": tables_text(tables),
        "explorer/formula-text.js": texts_text() + opened,
        "explorer/style.css": small_style(style_text("explorer")),
        "explorer/app.css": small_style(style_text("explorer", "app.css")),
    }
    (out / "explorer").mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in made]


def main() -> None:
    """Write the explorer into the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Write the layout explorer.")
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    write_explorer(out)
    print(out / "explorer" / "index.html")


if __name__ == "__main__":
    main()
