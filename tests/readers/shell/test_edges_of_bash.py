"""Scripts at whose edges a token more or less shows; bash itself says what they start."""

from __future__ import annotations

from pathlib import Path

import pytest
from started import started_as_followed, started_by_bash
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.condition import _fits
from steptime.readers.shell.follow import followed
from steptime.readers.shell.state import MOST_NESTED
from steptime.readers.shell.variables import replaced

SCRIPTS = {
    "a loop right behind a loop's do": (
        "N=x\nfor a in 1 2; do for b in 3 4; do N=$N-$a$b; done; N=$N+$a; done\ntrain --n $N\n"
    ),
    "a word of an array from a line": "read -a A <<< '3 4'\ntrain --n ${A[1]} --m ${#A[@]}\n",
    "a jump out of the inner loop alone": (
        "N=x\n"
        "for a in 1 2; do for b in 3 4; do N=$N-$a$b; break; done; N=$N+$a; done\ntrain --n $N\n"
    ),
    "a jump by its number": (
        "N=x\n"
        "for a in 1 2; do for b in 3 4; do N=$N-$a$b; break 1; done; N=$N+$a; done\n"
        "for a in 5 6; do for b in 7 8; do N=$N-$a$b; continue 2; done; N=$N+$a; done\n"
        "for a in 1 2; do for b in 3 4; do N=$N-$a$b; break 2; done; N=$N+$a; done\ntrain --n $N\n"
    ),
    "a blank behind a backslash": "train --n a\\ b c\nA=(x\\ y z)\ntrain --m ${#A[@]}\n",
    "what joins two lines": (
        "[ 1 = 2 ] &&\ntrain --n 1\n[ 1 = 1 ] ||\ntrain --n 2\n[ 1 = 1 ] &&\ntrain --n 3\n"
    ),
    "a file beside another redirection": (
        "cat > in <<E\n7\nE\ncat > out <<E\n8\nE\n"
        "read A > /dev/null < in\nread B < in > /dev/null\ntrain --n $A$B\n"
    ),
    "sums one after the other": "let A=1+2 B=A*2 C=B-1\ntrain --n $A --m $B --l $C\n",
    "the first place of an array": "A[0]=3\ntrain --n $A --m ${A[0]}\n",
    "a key of a table": "declare -A M\nM[k]=3\nM[0]=4\ntrain --n ${M[k]} --m ${M[0]}\n",
    "a function whose word is a key word": "function f { train --n 1; }\nf\ng() { train; }\ng\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_starts_is_what_bash_starts(name: str, tmp_path: Path) -> None:
    script = SCRIPTS[name]
    wanted = started_by_bash(script, folder=tmp_path)
    assert wanted
    assert started_as_followed(script) == wanted


def words_of(script: str) -> list[list[str]]:
    """Return the words of what a script starts, as they are kept apart."""
    return [one.words for one in followed(script, "run.sh", {}).commands if one.words[0] == "train"]


def test_a_blank_behind_a_backslash_cuts_no_word() -> None:
    assert words_of("train --n a\\ b c\n") == [["train", "--n", "a b", "c"]]


@pytest.mark.parametrize("cut", ["function", "read A <<<", "read A <", "<"])
def test_what_ends_too_soon_is_passed_over(cut: str) -> None:
    assert words_of(f"train --n 1\n{cut}") == [["train", "--n", "1"]]


def test_a_condition_that_nobody_decides_may_stand_on_a_line_of_its_own() -> None:
    """What joins two commands joins them over the end of a line."""
    one, two = (
        [(command.words, bool(command.unsure)) for command in followed(text, "run.sh", {}).commands]
        for text in ("[ -f x ] && train --n 1\n", "[ -f x ] &&\ntrain --n 1\n")
    )
    assert (["train", "--n", "1"], True) in one
    assert (["train", "--n", "1"], True) in two


@pytest.mark.parametrize("words", ["a -own b", "1 -lt 2 -own", "1 -lt"])
def test_what_no_test_of_a_shell_is_stays_open(words: str) -> None:
    script = followed(f"if [ {words} ]; then train --n 1; fi\n", "run.sh", {})
    assert [bool(one.unsure) for one in script.commands if one.words[0] == "train"] == [True]


LOOP = "cat > sizes <<E\n7\n13\nE\nwhile read n; do {} ; done < sizes\n"


def test_a_loops_first_line_is_told_where_it_starts_something() -> None:
    told = "a loop's first line that starts something was taken"
    starts = followed(LOOP.format("torchrun pretrain_gpt.py --tp $n; exit"), "run.sh", {}).notes
    sums = followed(LOOP.format("A=$((A + n))") + "train --n $A\n", "run.sh", {}).notes
    plain = followed(
        "for n in 1 2; do torchrun pretrain_gpt.py --tp $n; done\n", "run.sh", {}
    ).notes
    assert any(told in note for note in starts) or starts == []
    assert not any(told in note for note in [*sums, *plain])


@pytest.mark.parametrize(
    ("letters", "pattern", "found"),
    [(200, "x", True), (201, "x", None), (5, "y" * 100, False), (5, "y" * 101, None)],
)
def test_long_texts_and_expressions_are_left_open(
    letters: int, pattern: str, found: bool | None
) -> None:
    assert _fits("x" * letters, pattern) is found


@pytest.mark.parametrize(
    ("value", "pattern", "other", "shown"),
    [
        ("axb", "x", "y", "ayb"),
        # What may take long is not tried: a long value, pattern or word in its place.
        *(("a" * 401, "x", "y", None), ("axb", "x" * 61, "y", None), ("axb", "x", "y" * 401, None)),
    ],
)
def test_only_short_texts_are_changed(
    value: str, pattern: str, other: str, shown: str | None
) -> None:
    assert replaced(value, "/", pattern, other) == shown


def test_bodies_may_stand_in_each_other_as_deep_as_told_and_one_after_the_other() -> None:
    flat = "f() { :; }\n" + "f\n(:)\n" * 30
    deep = "( " * (MOST_NESTED + 1) + ":" + " )" * (MOST_NESTED + 1) + "\n"
    followed(flat, "run.sh", {})
    for script in (deep, flat + deep):
        with pytest.raises(ConfigError, match="nested over"):
            followed(script, "run.sh", {})


def test_lines_of_a_batch_header_are_counted_from_one(tmp_path: Path) -> None:
    text = (
        "#!/bin/bash\n#SBATCH --job-name=own\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        "srun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
        "--seq-length 4096 --micro-batch-size 1 --global-batch-size 256 --vocab-size 32000\n"
    )
    found = read(tmp_path, "run.slurm", text)
    lines = {name: found.facts[name].line for name in ("num_nodes", "gpus_per_node", "num_layers")}
    assert lines == {"num_nodes": 3, "gpus_per_node": 4, "num_layers": 5}
