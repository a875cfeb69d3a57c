"""What a reader sees: the first screen, figures on a phone, captions, sources, paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

BOTTOM = "element => element.getBoundingClientRect().bottom + scrollY"


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_first_screen_says_what_this_is_and_shows_the_picture_with_its_verdict(
    open_page: Callable[..., Any], width: int, height: int
) -> None:
    page = open_page("book/index.html", width=width, height=height).page
    shown = page.locator("#home .play svg:visible")
    assert shown.count() == 1
    assert "nothing has reached it yet" in shown.get_attribute("aria-label")
    assert shown.evaluate(BOTTOM) < height
    assert page.locator("#home [data-play]").evaluate(BOTTOM) < height
    claim = page.locator("#home .claim")
    assert "27.3 %" in claim.inner_text()
    if width > 1000:
        assert claim.evaluate(BOTTOM) < height
        assert page.locator("#home .big").evaluate(BOTTOM) < height
    # Each number in the picture can be read.
    sizes = shown.locator("text").evaluate_all(
        "texts => texts.map(t => t.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 10


def test_every_source_can_be_followed_and_a_citation_leads_to_it(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("book/bibliography.html").page
    entries = page.locator("div.citation")
    links = page.locator("div.citation a[href^='https://']")
    assert entries.count() == links.count() > 50
    page = open_page("build/notebooks/12b_schedules.html").page
    citation = page.locator("table a", has_text="Qi et al. (2024b)").first
    citation.click()
    page.wait_for_url("**/book/bibliography.html#*")
    target = page.url.partition("#")[2]
    assert page.locator(f"[id='{target}']").inner_text().startswith("Qi et al., 2024b")


def test_a_result_answers_first_and_its_code_is_folded(open_page: Callable[..., Any]) -> None:
    page = open_page("build/notebooks/12_bubble.html").page
    answer = page.locator(".st-answer")
    table = page.locator("article table").first
    assert answer.evaluate(BOTTOM) < table.evaluate(BOTTOM)
    assert page.locator("article pre:visible").count() == 0
    page.locator("details.st-code summary").click()
    assert "bubble_study(" in page.locator("article pre:visible").inner_text()


def test_on_a_phone_a_figure_fits_and_its_text_is_large_enough(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("build/notebooks/12_bubble.html", width=360, height=740).page
    figure = page.locator(".st-figure-box svg:visible")
    assert figure.count() == 1
    assert figure.bounding_box()["width"] <= 328
    sizes = figure.locator("text").evaluate_all(
        """texts => texts.map(text => {
          const turned = text.getScreenCTM();
          return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(turned.a, turned.b);
        })"""
    )
    assert min(sizes) >= 9.5


def test_a_wide_table_says_that_it_scrolls_and_its_caption_is_seen_whole(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("build/notebooks/11_baseline.html", width=360, height=740).page
    box = page.locator(".st-scroll[data-more]").first
    assert "scroll" in box.evaluate("box => getComputedStyle(box, '::before').content")
    words = box.locator("caption > span").first
    assert words.bounding_box()["width"] <= 330
    box.evaluate("box => box.scrollLeft = 200")
    assert words.bounding_box()["x"] >= 0
    assert "Scrolls sideways" in box.get_attribute("aria-label")


def test_on_paper_nothing_is_cut_and_answers_are_open(open_page: Callable[..., Any]) -> None:
    page = open_page("build/notebooks/11_baseline.html", width=1040, height=800).page
    page.emulate_media(media="print")
    widths = page.locator("article table").evaluate_all(
        "tables => tables.map(t => t.getBoundingClientRect().right)"
    )
    # A landscape sheet between its margins has 1,046 pixels.
    assert max(widths) <= 1046
    page = open_page("book/pipeline.html").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.sd-dropdown:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.sd-dropdown[open]").count() == 0


def test_a_lost_reader_finds_the_front_page_from_any_depth(open_page: Callable[..., Any]) -> None:
    page = open_page("404.html").page
    assert page.locator("a").evaluate("a => new URL(a.href).pathname") == "/"
    page.locator("a").click()
    page.wait_for_url("**/book/index.html")


def test_a_shared_link_has_a_title_a_sentence_and_a_picture_that_is_there(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("book/pipeline.html").page

    def said(name: str) -> str:
        return page.locator(f'meta[property="og:{name}"]').get_attribute("content")

    assert said("title") == "Pipeline parallelism"
    assert len(said("description")) > 60
    address = page.evaluate("name => new URL(name, location.href).href", said("image"))
    assert page.request.get(address).headers["content-type"] == "image/png"


def test_a_number_says_what_made_it_and_leads_there(open_page: Callable[..., Any]) -> None:
    page = open_page("book/pipeline.html").page
    number = page.locator("a.st-from", has_text="37.5 %").first
    box = page.locator(".st-origin")
    assert box.count() == 0
    number.hover()
    told = box.inner_text().split("\n")
    assert told[0] == "From notebook 12_bubble"
    assert told[-1] == "Again: python -m steptime.book.results --only 12"
    assert any(line.startswith("Parameters: num_stages = [") for line in told)
    page.keyboard.press("Escape")
    assert box.count() == 0
    number.focus()
    assert number.get_attribute("aria-describedby") == box.get_attribute("id")
    # A figure says the same of itself, drawn by a notebook or moved by a script.
    page.locator("figure .st-made a").first.focus()
    assert box.inner_text().split("\n")[0] == "From notebook 12_bubble"
    page.locator(".st-widget ~ .st-made a").first.focus()
    assert "schedule_page.write_schedule" in box.inner_text()
    number.click()
    page.wait_for_url("**/build/notebooks/12_bubble.html")


def test_the_box_of_a_number_stays_inside_a_phones_screen(open_page: Callable[..., Any]) -> None:
    page = open_page("book/memory.html", width=360, height=740).page
    for number in page.locator("a.st-from").all()[:12]:
        number.focus()
        place = page.locator(".st-origin").bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
