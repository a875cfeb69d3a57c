"""Conditions that a script alone decides, against bash, and those that nobody can; our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from started import started_as_followed, started_by_bash
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading
from steptime.readers.shell.follow import followed
from steptime.readers.shell.marks import readable

DECIDED = {
    "a key of a table is there": (
        "declare -A M=([a]=1)\n[[ -v M[a] ]] && train --n ${M[a]}\n"
        "[[ -v M[b] ]] && train --n other\n"
    ),
    "a place of an array is there": (
        "A=(3 4)\nif [[ -v A[1] && ! -v A[5] && ! -v Q ]]; then train --n ${A[1]}; fi\n"
    ),
    "a key that a table lacks": (
        "declare -A S=([a]=1)\n"
        "train --x ${S[k]-none} --y ${S[a]-none} --z ${S[k]:-e} --w ${S[a]+there} --v ${S[k]+no}\n"
    ),
    "an empty value is there": "declare -A S=([a]=)\ntrain --x ${S[a]-none} --y ${S[a]:-none}\n",
    "a text in place of another": (
        "V=llama3-8b-instruct\ntrain --a ${V//l/L} --b ${V/-/_} --c ${V//-*/} --d ${V/#llama/x} "
        '--e ${V/%-instruct/} --f ${V//[0-9]/N} --g "${V//-/ }" --h ${V/#8b/x}\n'
    ),
    "a text in place of another in all values": "A=(a.b c.d)\ntrain --a ${A[@]//./_}\n",
    "an expression fits": (
        "M=7B\nif [[ $M =~ ^([0-9]+)B$ ]]; then train --n 1; fi\n"
        "[[ $M =~ ^(13B|70B)$ ]] && train --n 2\n[[ $M =~ 7 && $M != 8B ]] && train --n 3\n"
    ),
    "lines of a file that the script writes": (
        "cat > sizes <<EOF\n7b 32\n13b 40\nEOF\nL=0\n"
        "while read -r name layers; do L=$((L + layers)); N=$name; done < sizes\n"
        "train --sum $L --last ${N:-none}\n"
    ),
    "a word in what another command prints": (
        'A="--x --is-on"\nT=2\nif echo "$A" | grep -q -- "--is-on"; then T=1; fi\n'
        'echo "$A" | grep -q off && T=3\ngrep -q 7B <<< "own 7B" && U=4\ntrain --t $T --u $U\n'
    ),
    "lines of a text": (
        "while IFS=, read a b; do [[ $a == '#'* ]] && continue; train --a $a --b $b; break; "
        "done <<EOF\n#x,1\ny,2\nEOF\n"
    ),
}


@pytest.mark.parametrize("name", DECIDED)
def test_what_a_script_decides_is_decided_as_bash_does(name: str, tmp_path: Path) -> None:
    told = started_by_bash(DECIDED[name], folder=tmp_path)
    assert told
    assert started_as_followed(DECIDED[name]) == told


UNDECIDED = [
    "[ -f plan ] && train --n 1\n",
    "squeue | grep -q mine || train --n 1\n",
    "go() { train --n 1; }\n[[ -d out ]] && go\n",
    "if [ -d out ]; then train --n 1; exit; fi\n",
    "if nvidia-smi -L; then echo; elif [ -f x ]; then train --n 1; fi\n",
    "case $(hostname) in node*) train --n 1;; esac\n",
    "[ -f plan ] && { cd out; train --n 1; }\n",
    "[ -f plan ] && (cd out; train --n 1)\n",
    "[ -f plan ] && for n in 1 2; do train --n $n; break; done\n",
    "[ -f plan ] && if true; then train --n 1; fi\n",
    "while ! ping -c 1 node; do train --n 1; done\n",
    "[ -f a ] && [ -f b ] && train --n 1\n",
    "f() { if [ -f a ]; then train --n 1; return; fi; }\nf\n",
]


@pytest.mark.parametrize("script", UNDECIDED)
def test_a_launch_behind_what_nobody_can_decide_is_read_as_such(script: str) -> None:
    found = [one for one in followed(script, "run.sh", {}).commands if one.words[0] == "train"]
    assert [one.words for one in found] == [["train", "--n", "1"]]
    assert found[0].unsure
    assert started_as_followed(script) == []


@pytest.mark.parametrize(
    "script",
    [
        "A=a/b\n[ -f x ] && { A=c/d; train --n $A; }\ntrain --n $A\n",
        "A=a/b\nif [ -f x ]; then A=c/d; train --n $A; fi\ntrain --n $A\n",
        "A=a/b\nset -- a b\ncase $(uname) in L*) A=c/d; shift; train --n $A;; esac\ntrain --n $A\n",
        "A=a/b\nwhile uptime; do A=c/d; train --n $A; break; done\ntrain --n $A\n",
    ],
)
def test_what_such_a_launch_needs_is_not_set_behind_it(script: str) -> None:
    found = [one for one in followed(script, "run.sh", {}).commands if one.words[0] == "train"]
    assert [one.words[-1] for one in found] == ["c/d", "a/b"]
    assert [bool(one.unsure) for one in found] == [True, False]


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("A=2\n[ -f x ] && A=8\n", "$(2 or 8)"),
        ("A=2\nif [ -f x ]; then A=8; fi\n", "$(2 or 8)"),
        ("if [ -f x ]; then A=8; else A=4; fi\n", "$(4 or 8)"),
        ("if [ -f x ]; then A=8; fi\n", "$(nothing or 8)"),
        ("A=7b\nif [ -f x ]; then A=13b; fi\n", "$(7b or 13b)"),
        ("A=1\ncase $(uname) in L*) A=2;; D*) A=1;; esac\n", "$(1 or 2)"),
        ("A=1\nif [ -f x ]; then [ -f y ] && A=2; fi\n", "$(1 or $(1 or 2))"),
        ("if [ -f x ]; then A=8; else A=8; fi\n", "8"),
        ("A=own\nif [ -f x ]; then A='--fp8 --more'; fi\n", "own"),
        ('A=1\nif [ -n "$1" ]; then A=$1; fi\n', "1"),
        ('A=1\n[ -n "$1" ] && A=$1\n', "1"),
        ("A=1\ncase $1 in big) A=8;; esac\n", "1"),
    ],
)
def test_a_number_that_such_a_branch_may_set_is_open(script: str, value: str) -> None:
    script = f"{script}train --n $A\n"
    [found] = [one for one in followed(script, "run.sh", {}).commands if one.words[0] == "train"]
    assert readable(found.words[-1]) == value
    [told] = [
        one for one in followed(script, "run.sh", {"A": "3"}).commands if one.words[0] == "train"
    ]
    assert told.words[-1] == "3"


def test_a_file_that_such_a_branch_writes_is_none_that_is_there() -> None:
    script = "cat > f <<E\nmine\nE\nif [ -f x ]; then\ncat > f <<E\nother\nE\nfi\n"
    assert followed(script, "run.sh", {}).files == {"f": "mine\n"}


SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --bf16 "
    "--max-position-embeddings 4096 --vocab-size 32000 --micro-batch-size 1 --global-batch-size 256"
)
START = f"torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py {SIZES}"


def reading(folder: Path, script: str) -> Reading:
    return read(folder, "run.sh", script)


def test_a_training_that_may_not_start_is_read_and_said(tmp_path: Path) -> None:
    found = reading(tmp_path, f"[ -f plan.txt ] && {START} --tensor-model-parallel-size 4\n")
    assert found.value("tp") == 4
    assert found.notes[0] == (
        "IT MAY NOT START: line 1 is read as if [ -f plan.txt ] led to it, which is not known here"
    )


def test_a_size_of_two_values_is_asked_for(tmp_path: Path) -> None:
    text = f"TP=2\nif [ -f x ]; then TP=4; fi\n{START} --tensor-model-parallel-size $TP\n"
    found = reading(tmp_path, text)
    assert any(gap.startswith("tp: ") and "2 or 4" in gap for gap in found.missing)
    assert read(tmp_path, "run.sh", text, TP="4").value("tp") == 4


def test_one_that_starts_for_certain_is_read_and_the_other_told(tmp_path: Path) -> None:
    both = (
        f"{START} --tensor-model-parallel-size 4\nif [ -f x ]; then\n"
        f"{START} --tensor-model-parallel-size 8\nfi\n"
    )
    found = reading(tmp_path, both)
    assert found.value("tp") == 4
    assert found.notes[0].startswith("MORE THAN ONE TRAINING: line 1 is read, and not what line 3")
    assert not any("MAY NOT START" in note for note in found.notes)


def test_of_several_that_may_start_none_is_picked(tmp_path: Path) -> None:
    either = (
        f"case $(hostname) in a*)\n{START} --tensor-model-parallel-size 4;;\n*)\n"
        f"{START} --tensor-model-parallel-size 8;;\nesac\n"
    )
    with pytest.raises(ConfigError, match=r"run\.sh: which of the trainings on lines 2, 4 starts"):
        reading(tmp_path, either)
    alike = either.replace("size 8", "size 4")
    assert reading(tmp_path, alike).value("tp") == 4


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|b)*c", "a*b*c*d"])
def test_an_expression_that_may_take_long_is_left_open(pattern: str) -> None:
    script = f"V={'a' * 99}\nif [[ $V =~ {pattern} ]]; then train --n 1; fi\n"
    found = [one for one in followed(script, "run.sh", {}).commands if one.words[0] == "train"]
    assert [bool(one.unsure) for one in found] == [True]
