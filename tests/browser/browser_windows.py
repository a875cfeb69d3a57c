"""Windows of one browser that the tests take in turn: a new one costs more than most tests do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

SIZE = {"width": 1280, "height": 800}
# What a page itself can be told. All else, such as a permission, is a window's.
OF_A_PAGE = {"color_scheme", "reduced_motion", "forced_colors"}

Opener = Callable[..., Page]


class _Window:
    """A window with an empty page that stays, and beside it the pages of one test."""

    def __init__(self, browser: Browser, options: dict[str, Any]) -> None:
        self.context = browser.new_context(viewport=SIZE, **options)
        self.empty = self.context.new_page()
        self.session = self.context.new_cdp_session(self.empty)

    def page(self, size: dict[str, int], media: dict[str, Any]) -> Page:
        page = self.context.new_page()
        if size != SIZE:
            page.set_viewport_size(size)
        if media:
            page.emulate_media(**media)
        return page

    def clear(self) -> None:
        """Close what the test opened, and forget what its pages kept and fetched."""
        origins = set()
        for page in self.context.pages:
            if page is not self.empty:
                address = urlsplit(page.url)
                origins.add(f"{address.scheme}://{address.netloc}")
                page.close()
        for origin in origins:
            self.session.send(
                "Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"}
            )
        self.session.send("Network.clearBrowserCache")
        self.context.clear_cookies()


class Windows:
    """The windows of a browser, each of which one test uses at a time."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.idle: dict[str, list[_Window]] = {}

    @contextlib.contextmanager
    def lent(self) -> Iterator[Opener]:
        """Give ``page(width, height, **options)``: an empty page, in front in its window.

        Options are those of Playwright's ``new_context``; all is cleared when the test ends.
        """
        taken: list[tuple[list[_Window], _Window]] = []

        def page(width: int = 1280, height: int = 800, **options: Any) -> Page:
            media = {name: options.pop(name) for name in OF_A_PAGE & options.keys()}
            idle = self.idle.setdefault(repr(sorted(options.items())), [])
            window = idle.pop() if idle else _Window(self.browser, options)
            taken.append((idle, window))
            return window.page({"width": width, "height": height}, media)

        yield page
        for idle, window in taken:
            window.clear()
            idle.append(window)
