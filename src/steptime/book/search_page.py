"""Write the search of the page: `steptime search` in a thread of the reader's browser.

What is written by hand is in ``book/web/find``; the space of layouts, the formulas and the
tables of the reader of ``config.json`` are the package's own.
"""

from __future__ import annotations

from pathlib import Path

from steptime.book.alone_page import AlonePage, alone_html
from steptime.book.explorer_bundle import one_script, scripts
from steptime.book.explorer_named import named_data
from steptime.book.explorer_page import data_text, module_text
from steptime.book.explorer_state import asked_fields
from steptime.book.figure_page import WEB
from steptime.book.javascript import bundle
from steptime.book.minify import small_style
from steptime.book.search_data import reader_tables, search_data
from steptime.book.search_software import tries_data
from steptime.book.search_static import fragment
from steptime.inputs.counted import COUNTED

ROOTS = (
    "steptime.planning.cuts",
    "steptime.formulas.candidates:own_sequence",
    "steptime.formulas.roofline.context:head_ranks",
    "steptime.formulas.roofline.context:heads_left_over",
    "steptime.formulas.candidates:own_sharding",
    "steptime.formulas.candidates:row_rule",
    *(f"steptime.formulas.software_limits:{name}" for name in COUNTED),
    "steptime.formulas.judgement:fit_probability",
    "steptime.formulas.judgement:most_bytes",
    "steptime.formulas.judgement:interval_s",
    "steptime.formulas.judgement:shares_weights",
    "steptime.formulas.memory.total:memory_total_bytes",
    # What is open is asked as the explorer asks: whether a layout can be cut and fits.
    "steptime.formulas.validity:device_fault",
    "steptime.formulas.validity:layout_rule",
    "steptime.formulas.validity:layout_fault",
    "steptime.formulas.schedule_rules:schedule_rule",
    "steptime.formulas.schedule_rules:mended_sizes",
    "steptime.formulas.flops:num_microbatches",
    "steptime.formulas.judgement:fit_verdict",
    "steptime.formulas.baseline:baseline_step",
    "steptime.formulas.baseline:step_s",
    "steptime.formulas.roofline.step:roofline_step",
    "steptime.formulas.roofline.step:roofline_step_s",
)
"""All that a search calls."""
PAGE = AlonePage(
    name="find",
    element="find",
    title="Which layout?",
    about="The fastest layout of a model on your GPUs, out of all.",
    kind="sf-alone",
)


def modules() -> dict[str, str]:
    """Return every module of the page by its path: written by hand, or made from Python."""
    found = {
        path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("find", "explorer", "shared")
        for path in sorted(WEB.glob(f"{folder}/*.js"))
    }
    found["explorer/asked.js"] = module_text("asked", asked_fields())
    found["explorer/data.js"] = data_text()
    found["find/data.js"] = module_text("search", search_data())
    found["find/tables.js"] = module_text("tables", reader_tables())
    found["explorer/tables-of-software.js"] = module_text("tables", named_data())
    found["find/tries-of-software.js"] = module_text("tries", tries_data())
    found["find/formulas.js"] = bundle(*ROOTS)
    return found


def write_search(out: Path) -> list[Path]:
    """Write the search, ready to be served, and return the files.

    Args:
        out: The folder that becomes part of the site's root.
    """
    stand_in, every = fragment(), modules()
    alone = stand_in.replace('"explorer.html"', '"../explorer/index.html"')
    style = (WEB / "find" / "style.css").read_text(encoding="utf-8")
    worker, named = scripts(["find/worker.js"], ["find/named.js"], every)
    made = {
        "find.html": stand_in,
        "find/index.html": alone_html(PAGE, alone),
        "find/index.js": one_script("find/index.js", every),
        "find/worker.js": worker,
        "find/named.js": named,
        "find/style.css": small_style(style),
    }
    (out / "find").mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in made]
