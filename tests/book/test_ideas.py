"""Small figures: what they print is what the package computes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from steptime.answer import predict
from steptime.book import (
    cube_page,
    frames,
    frames_films,
    frames_page,
    idea_page,
    memory_page,
    split_page,
)
from steptime.book.site.values import all_values
from steptime.book.study.effects import LLAMA
from steptime.formulas.memory.total import PARTS


def test_the_bar_of_memory_adds_up_and_ends_where_its_numbers_do() -> None:
    every = memory_page.states()
    top = idea_page.round_top(max(one["total"] for one in every))
    for one in every:
        assert sum(one["parts"]) == pytest.approx(one["total"])
        # One answer: the words are those of `steptime predict`, whose chance may be against it.
        assert one["fits"] == one["outlook"].startswith("fits")
        assert (one["outlook"] == "does not fit") == (one["total"] > one["limit"])
    widths = [
        float(w)
        for w in re.findall(r'data-part="\w+" style="width:([\d.]+)%', memory_page.fragment())
    ]
    assert len(widths) == len(PARTS)
    assert sum(widths) == pytest.approx(100 * every[0]["total"] / top, abs=0.01)


def test_the_bar_of_memory_agrees_with_the_table_below_it() -> None:
    values = all_values()
    for part, size in zip(PARTS, memory_page.states()[0]["parts"], strict=True):
        assert float(values[f"ex_mem_{part}"].split()[0]) == pytest.approx(size, abs=0.051)


def test_changes_of_memory_go_the_way_the_chapter_says() -> None:
    first, whole, again, all_again, longer, fewer = memory_page.states()
    optimizer, activations = PARTS.index("optimizer"), PARTS.index("activations")
    # 12 bytes a parameter, shared over 64 copies or not at all.
    assert whole["parts"][optimizer] == pytest.approx(64 * first["parts"][optimizer], rel=0.02)
    assert all_again["parts"][activations] < again["parts"][activations]
    assert again["parts"][activations] <= first["parts"][activations]
    assert longer["parts"][activations] == pytest.approx(2 * first["parts"][activations], rel=0.01)
    # Twice the layers a stage, half of the micro-batches under way.
    assert fewer["parts"][0] > 1.7 * first["parts"][0]


def test_the_parts_of_a_step_are_those_of_the_answer_and_make_it_whole() -> None:
    told = predict(**LLAMA)
    html = split_page.fragment()
    named = [part[0] for part in split_page.PARTS]
    left_out = [part for part in told.breakdown_s if part not in named]
    assert sum(told.breakdown_s[part] for part in left_out) == 0
    widths = [float(w) for w in re.findall(r'data-block="\w+" style="width:([\d.]+)%', html)]
    assert sum(widths) == pytest.approx(100, abs=0.3)
    assert html.count("<math") == len(named)
    for part in named:
        assert split_page.seconds(float(told.breakdown_s[part])) in html


def test_ranks_of_the_cube_are_those_of_placement() -> None:
    from steptime.inputs.layout import Layout
    from steptime.planning.placement import place

    placed = place(Layout(tp=2, cp=2, pp=2, dp=2), domain_size=2, order="llama3")
    inside = {one.kind: one.inside for one in placed.groups}
    # Neighbours by rank are a tensor group, and nothing else fits into a domain of two.
    assert inside["tensor"] == 8
    assert [cube_page.group(5, axis) for axis in cube_page.ORDER] == [
        [4, 5],
        [5, 7],
        [1, 5],
        [5, 13],
    ]
    lengths = [abs(complex(*cube_page.STEPS[axis])) for axis in cube_page.ORDER]
    assert lengths == sorted(lengths)


def test_the_product_in_whole_numbers_is_the_matrices_product() -> None:
    hidden, partial, total = frames_films.products()
    x, a, b = (
        np.array(one) for one in (frames_films.INPUT, frames_films.FIRST, frames_films.SECOND)
    )
    assert hidden == (x @ a).tolist()
    assert total == tuple((x @ a @ b).tolist())
    assert sum(one for one, _ in partial) == total[0]


def test_a_ring_shows_every_block_to_every_gpu_once() -> None:
    film = frames_films.ring_film()
    seen = [frame.places for frame in film.frames]
    for gpu in range(frames.LANES):
        pieces = {
            next(
                k for k, at in one.items() if k.startswith("k") and at == (frames.middle(gpu), 72.0)
            )
            for one in seen[:4]
        }
        assert len(pieces) == frames.LANES
    # Half of the square and the diagonal: what a causal mask leaves.
    busy = [name for name, tile in film.tiles.items() if tile.kind == "k2" and name.startswith("w")]
    assert len(busy) == frames.LANES * (frames.LANES + 1) / 2


def test_tokens_go_to_the_gpu_of_their_expert_and_come_home() -> None:
    film = frames_films.exchange_film()
    first, away, _, last = film.frames
    assert first.places == last.places
    for gpu, tokens in enumerate(frames_films.CHOSEN):
        for place, expert in enumerate(tokens):
            x, _ = away.places[f"t{gpu}{place}"]
            assert int(x // frames.LANE) == expert
    assert sum(frames_films.arrivals()) == 16


def test_no_two_tiles_lie_on_one_another_and_none_outside() -> None:
    for _, film in frames_page.films():
        for frame in film.frames:
            boxes = [
                (x, y, x + film.tiles[name].wide, y + film.tiles[name].high)
                for name, (x, y) in frame.places.items()
            ]
            for at, one in enumerate(boxes):
                assert one[0] >= 0
                assert one[2] <= frames.WIDTH
                assert one[3] <= film.high
                for other in boxes[at + 1 :]:
                    apart = (
                        one[2] <= other[0]
                        or other[2] <= one[0]
                        or one[3] <= other[1]
                        or other[3] <= one[1]
                    )
                    assert apart, (film.label, one, other)


def test_a_round_top_is_the_next_round_number() -> None:
    assert [idea_page.round_top(value) for value in (99.0, 100.0, 123.0, 161.0, 7.0)] == [
        100,
        100,
        160,
        200,
        8,
    ]


def test_the_command_under_a_figure_asks_for_its_step() -> None:
    from typer.testing import CliRunner

    from steptime.cli.main import every_command

    words = idea_page.command(LLAMA).split()[1:]
    shown = CliRunner().invoke(every_command(), words)
    assert shown.exit_code == 0, shown.output
    assert f"{predict(**LLAMA).step_time_s:.4g} s a step" in shown.output


def test_a_figures_own_page_leads_into_the_book(tmp_path: Path) -> None:
    split_page.write_split(tmp_path)
    alone = (tmp_path / "split" / "index.html").read_text(encoding="utf-8")
    assert 'href="../book/notation.html"' in alone
    assert 'href="style.css"' in alone
    assert 'href="notation.html"' in (tmp_path / "split.html").read_text(encoding="utf-8")
