"""Write the search of the page: `steptime search` in a thread of the reader's browser.

What is written by hand is in ``book/web/search``; the space of layouts, the formulas and the
tables of the reader of ``config.json`` are the package's own.
"""

from __future__ import annotations

from steptime.book.explorer_page import WEB, data_text, module_text
from steptime.book.javascript import bundle
from steptime.book.search_data import reader_tables, search_data

ROOTS = (
    "steptime.planning.cuts",
    "steptime.formulas.candidates:own_sequence",
    "steptime.formulas.candidates:own_sharding",
    "steptime.formulas.candidates:row_rule",
    "steptime.formulas.judgement:fit_probability",
    "steptime.formulas.judgement:interval_s",
    "steptime.formulas.judgement:shares_weights",
    "steptime.formulas.memory.total:memory_total_bytes",
    "steptime.formulas.baseline:baseline_step",
    "steptime.formulas.baseline:step_s",
    "steptime.formulas.roofline.step:roofline_step",
    "steptime.formulas.roofline.step:roofline_step_s",
)
"""All that a search calls."""


def modules() -> dict[str, str]:
    """Return every module of the page by its path: written by hand, or made from Python."""
    found = {
        path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("search", "explorer", "shared")
        for path in sorted(WEB.glob(f"{folder}/*.js"))
    }
    found["explorer/data.js"] = data_text()
    found["search/data.js"] = module_text("search", search_data())
    found["search/tables.js"] = module_text("tables", reader_tables())
    found["search/formulas.js"] = bundle(*ROOTS)
    return found
