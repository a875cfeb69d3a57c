"""How smoothly the figure of pipelines plays at the largest size it draws.

``python bench/frames.py [--write]`` opens the figure in Chromium, lets it play, and counts the
frames that the page draws. CHROMIUM names a browser; HEADED=1 gives it a window, and with it the
drawing hardware of a machine that has some.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from steptime.book.schedule_page import write_schedule
from written import put, table

QUERY = "?s=interleaved-1f1b&p=64&m=512&v=2"
SECONDS = 6
PAGE = Path(__file__).parents[1] / "book" / "built.md"
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
_GAPS = """(seconds) => new Promise((done) => {
  const times = [];
  const end = performance.now() + 1000 * seconds;
  const step = (now) => {
    times.push(now);
    if (now < end) requestAnimationFrame(step);
    else done(times.slice(1).map((time, at) => time - times[at]));
  };
  requestAnimationFrame(step);
})"""
_DRAWN_BY = """() => {
  const pen = document.createElement("canvas").getContext("webgl");
  const more = pen?.getExtension("WEBGL_debug_renderer_info");
  return more ? pen.getParameter(more.UNMASKED_RENDERER_WEBGL) : "";
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on localhost and yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def measured(page: Page, address: str) -> dict[str, Any]:
    """Return boxes, milliseconds between frames while it plays, and what draws them."""
    page.goto(f"{address}/schedule/index.html{QUERY}")
    page.wait_for_selector("#sched canvas", state="attached")
    page.wait_for_timeout(2000)
    page.evaluate("stSchedule.clock.go(0)")
    page.click("#sched button:has-text('Play')")
    before = page.locator("#sched canvas").first.screenshot()
    gaps = page.evaluate(_GAPS, SECONDS)
    if page.locator("#sched canvas").first.screenshot() == before:
        raise RuntimeError("the figure did not play")
    boxes = page.evaluate("stSchedule.runs[0].boxes")
    return {"boxes": boxes, "gaps": gaps, "by": page.evaluate(_DRAWN_BY)}


def shown(found: dict[str, Any]) -> str:
    """Return what was measured, as a table of one row."""
    gaps = sorted(found["gaps"])
    software = "SwiftShader" in found["by"] or "llvmpipe" in found["by"] or not found["by"]
    row = [
        "software" if software else found["by"],
        f"{found['boxes']:,}",
        f"{1000 * len(gaps) / sum(gaps):.0f}",
        f"{gaps[len(gaps) // 2]:.1f} ms",
        f"{gaps[len(gaps) * 99 // 100]:.0f} ms",
    ]
    head = ["drawn by", "boxes", "frames a second", "half come within", "99 of 100 within"]
    return table(head, [row])


def main(words: list[str]) -> int:
    """Print what was measured; ``--write`` puts it on the page."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_schedule(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=path, headless=not os.environ.get("HEADED"), args=["--no-sandbox"]
        )
        with served(Path(folder)) as address:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            told = shown(measured(page, address))
        browser.close()
    print(told)
    if "--write" in words:
        caption = "The figure of pipelines at its largest, as it plays."
        put(PAGE, "frames", f":::{{table}} {caption}\n\n{told}\n:::")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
