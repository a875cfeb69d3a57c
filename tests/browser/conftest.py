"""The built site on localhost, and Chromium pages that may reach nothing else."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from browser_windows import Opener, Windows
from playwright.sync_api import Browser, Error, Page, sync_playwright

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
# Chromium without windows first: the same engine for half of the processor's time.
NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell"),
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)


# One process for all pages of a worker: a fifth less of the processor than one for each.
WORDS = ["--no-sandbox", "--disable-dev-shm-usage", "--renderer-process-limit=1"]


class _Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line a request on the terminal."""

    def log_message(self, *_: object) -> None: ...


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a folder on localhost and yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """Return the folder of the built site."""
    assert (SITE / "index.html").is_file(), "no build/site: run `make site` first"
    return SITE


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """Return the address of the built site."""
    with _served(site_folder) as address:
        yield address


@pytest.fixture(scope="session")
def served() -> Callable[[Path], contextlib.AbstractContextManager[str]]:
    """Give what serves a folder for the time of a with statement."""
    return _served


@pytest.fixture(scope="session")
def schedule_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the schedule figure alone, made as the site makes it."""
    from steptime.book.schedule_page import write_schedule

    place = tmp_path_factory.mktemp("schedule")
    write_schedule(place)
    return place


@pytest.fixture(scope="session")
def schedule_site(schedule_folder: Path) -> Iterator[str]:
    """Return the address of the schedule figure alone, which needs no built site."""
    with _served(schedule_folder) as address:
        yield address


@pytest.fixture(scope="session")
def placement_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of the racks figure alone, which needs no built site."""
    from steptime.book.placement_page import write_placement

    place = tmp_path_factory.mktemp("placement")
    write_placement(place)
    with _served(place) as address:
        yield address


@pytest.fixture(scope="session")
def accuracy_site(
    tmp_path_factory: pytest.TempPathFactory, accuracy_points: dict[str, Any]
) -> Iterator[str]:
    """Return the address of the chart alone, made as the site makes it."""
    from steptime.book.accuracy_page import write_accuracy

    place = tmp_path_factory.mktemp("accuracy")
    write_accuracy(place, accuracy_points)
    with _served(place) as address:
        yield address


def _beside(name: str) -> str:
    """Return the one expression of a script in this folder: what stands before it is a comment."""
    source = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return source[source.index("\n(") :].strip().rstrip(";")


@pytest.fixture(scope="session")
def violations() -> Callable[..., list[str]]:
    """Return ``violations(page, part="html")``: what axe finds there, one line an element."""
    axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    judge = _beside("judge.js")

    def call(page: Page, part: str = "html") -> list[str]:
        page.evaluate(axe)
        found: list[str] = page.evaluate(judge, [part])
        return found

    return call


@pytest.fixture(scope="session")
def probe() -> Callable[..., Any]:
    """Return ``probe(page, name, *arguments)``: a function of schedule_probes.js in the page."""
    literal = _beside("schedule_probes.js")

    def call(page: Page, name: str, *arguments: Any) -> Any:
        return page.evaluate(f"given => {literal}.{name}(...given)", list(arguments))

    return call


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return where Chromium is: the one that CHROMIUM names, or the quickest here."""
    paths = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    path = next((one for one in paths if one), None)
    assert path, "the browser tests need Chromium: apt-get install chromium, or set CHROMIUM"
    return path


@pytest.fixture(scope="session")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """Return one Chromium for the session."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=WORDS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    """Return the windows of the session's Chromium."""
    return Windows(chromium)


@pytest.fixture
def new_page(windows: Windows) -> Iterator[Opener]:
    """Return what opens an empty page, as a new browser would: ``new_page(width=360)``."""
    with windows.lent() as opener:
        yield opener


# Two frames after loading, what the scripts started has been drawn; a page that draws no frames,
# such as one that a busy browser keeps in the background, is not waited for.
_TWO_FRAMES = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
  setTimeout(done, 500);
})"""


# Adds up how far what a reader already saw has moved by itself.
SHIFTS = """new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifted = (window.shifted ?? 0) + one.value;
}).observe({ type: 'layout-shift', buffered: true })"""


class Watched:
    """A page that writes down everything that a reader must never meet.

    Attributes:
        page: The Playwright page.
        scripts: Whether it runs any.
        foreign: Requests to another host.
        failed: Requests that were not answered, or with an error.
        errors: Exceptions and console errors.
    """

    def __init__(self, page: Page, site: str, *, scripts: bool = True) -> None:
        self.page = page
        self.scripts = scripts
        self.site = site
        self.foreign: list[str] = []
        self.failed: list[str] = []
        self.errors: list[str] = []
        page.add_init_script(SHIFTS)
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.site, "data:", "blob:")):
            self.foreign.append(request.url)

    def _failed(self, request: Any) -> None:
        # Leaving a page cuts off what it was still loading; no reader meets that.
        if request.failure not in {"net::ERR_ABORTED", "csp"}:
            self.failed.append(f"{request.failure} {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.failed.append(f"{response.status} {response.url}")

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, path: str) -> Page:
        """Load a page of the site and wait until its scripts have run."""
        self.page.goto(f"{self.site}/{path}", wait_until="load")
        if self.scripts:
            # A page that leads on at once has left by then: the next one answers.
            with contextlib.suppress(Error):
                self.page.evaluate(_TWO_FRAMES)
        return self.page

    def until(self, expression: str, within_s: float = 30.0) -> None:
        """Wait until an expression holds in the page, asked from outside it.

        Playwright's ``wait_for_function`` evaluates in the page when the first try fails, which
        the pages' own policy against eval forbids.

        Raises:
            AssertionError: It does not hold in time.
        """
        end = time.monotonic() + within_s
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            self.page.wait_for_timeout(50)

    def assert_clean(self) -> None:
        """Fail if the page asked another host, missed a file or threw."""
        assert self.foreign == []
        assert self.failed == []
        assert self.errors == []


@pytest.fixture
def open_page(new_page: Opener, site: str) -> Callable[..., Watched]:
    """Return a function that opens a page: ``open_page("book/pipeline.html", width=360)``.

    Keyword arguments besides ``width``, ``height`` and ``theme`` are those of Playwright's
    ``new_context``: ``java_script_enabled=False``, ``reduced_motion="reduce"``.
    """

    def opener(
        path: str, width: int = 1280, height: int = 800, theme: str = "light", **options: Any
    ) -> Watched:
        page = new_page(width, height, color_scheme=theme, **options)
        watched = Watched(page, site, scripts=options.get("java_script_enabled", True))
        watched.open(path)
        return watched

    return opener
