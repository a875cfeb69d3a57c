"""The explorer alone on localhost, and a page of it with what its tests do again and again."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from steptime.book.explorer_page import write_explorer

_OUTS = """() => {
  const words = ['change', 'note', 'copied', 'map-line', 'sentence', 'changed'];
  return Object.fromEntries([...document.querySelectorAll('#layout [data-out]')]
    .filter(e => !words.includes(e.dataset.out))
    .map(e => [e.dataset.out, e.textContent]));
}"""
# A frame and a little more; a page that draws no frames is not waited for.
_LATER = """() => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done, 30));
  setTimeout(done, 500);
})"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


class Explorer:
    """The explorer in a page.

    Attributes:
        page: The Playwright page.
        errors: Exceptions and console errors so far.
        assert_clean: Fails if it asked another host, missed a file or threw.
        until: Waits until an expression holds in the page.
        violations: Returns what axe finds, one line an element.
    """

    def __init__(self, watched: Any, violations: Callable[..., list[str]]) -> None:
        self.page = watched.page
        self.errors: list[str] = watched.errors
        self.assert_clean: Callable[[], None] = watched.assert_clean
        self.until: Callable[[str], None] = watched.until
        self.violations: Callable[[], list[str]] = lambda: violations(self.page)

    def value(self, name: str) -> float:
        """Return the number behind a printed one."""
        return float(self.page.get_attribute(f'#layout [data-out="{name}"]', "data-value"))

    def outs(self) -> dict[str, str]:
        """Return every number and word that an answer prints."""
        found: dict[str, str] = self.page.evaluate(_OUTS)
        return found

    def choose(self, control: str, option: object) -> None:
        """Choose a radio as a reader does: by its label."""
        self.page.click(f'[data-control="{control}"] label:has(input[value="{option}"])')

    def settle(self) -> None:
        """Wait for what comes a frame later: address, marks and map."""
        self.page.evaluate(_LATER)

    def open_details(self) -> None:
        """Open all that is folded away."""
        self.page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
        self.settle()


@pytest.fixture(scope="session")
def explorer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the explorer alone, made as the site makes it."""
    place = tmp_path_factory.mktemp("alone")
    write_explorer(place)
    return place


@pytest.fixture(scope="session")
def site(explorer_folder: Path) -> Iterator[str]:
    """Serve the explorer alone, so that these tests need no built site."""
    handler = functools.partial(_Quiet, directory=str(explorer_folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def open_explorer(
    open_page: Callable[..., Any], violations: Callable[..., list[str]]
) -> Callable[..., Explorer]:
    """Return a function that opens the explorer: ``open_explorer("?l.pp=8", width=360)``."""

    def opener(query: str = "", **options: Any) -> Explorer:
        seen = Explorer(open_page("explorer/index.html" + query, **options), violations)
        if options.get("java_script_enabled", True):
            # The first answer stands there before the form and all that follows it do.
            seen.until("document.querySelector('#layout [data-out=assumptions]')?.textContent")
        return seen

    return opener
