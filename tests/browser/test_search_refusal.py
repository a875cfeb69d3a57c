"""A refused question leaves nothing of the answer before it: in Chromium, the page alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
ANSWER = (".sf-table", ".sf-command", ".sf-dropped", ".sf-total")


@pytest.fixture(scope="module")
def address(
    tmp_path_factory: pytest.TempPathFactory,
    served: Callable[[Path], contextlib.AbstractContextManager[str]],
) -> Iterator[str]:
    from steptime.book.search_page import write_search

    place = tmp_path_factory.mktemp("search")
    write_search(place)
    with served(place) as site:
        yield f"{site}/find/index.html?s.model=llama3-8b&s.n=8&s.batch=64&s.seq=4096"


def wait(page: Page, condition: str) -> None:
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never came: {condition}")


def shown(page: Page) -> list[str]:
    """Return which parts of an answer a reader sees."""
    return [part for part in ANSWER if page.is_visible(part)]


def test_nothing_of_the_old_answer_stays_below_an_error(
    new_page: Callable[..., Page], address: str
) -> None:
    page = new_page(1280, 900)
    page.goto(address)
    wait(page, "stSearch.result()?.done")
    assert shown(page) == list(ANSWER)
    first = page.inner_text(".sf-table")
    page.fill("[name=n]", "-3")
    wait(page, "document.querySelector('[data-out=verdict]').innerText.includes('whole number')")
    assert shown(page) == []
    assert page.inner_text("[data-out=detail]") == page.inner_text("[data-out=ties]") == ""
    page.fill("[name=n]", "16")
    wait(page, "stSearch.result()?.done && stSearch.result().question.n === 16")
    assert shown(page) == list(ANSWER)
    assert page.inner_text(".sf-table") != first
    assert "--gpus 16" in page.inner_text(".sf-command")


def test_nor_below_a_broken_file(new_page: Callable[..., Page], address: str) -> None:
    page = new_page(1280, 900)
    page.goto(address)
    wait(page, "stSearch.result()?.done")
    page.select_option("[name=model]", "own")
    page.fill("[name=config]", "{")
    wait(page, "document.querySelector('[data-out=verdict]').innerText.includes('JSON')")
    assert shown(page) == []
