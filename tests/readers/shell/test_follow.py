"""Functions, loops and sums of a script, against what bash itself starts; all written here."""

from __future__ import annotations

import contextlib
import time

import pytest
from started import started_as_followed, started_by_bash

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.follow import followed

# A script, the arguments that it is started with, and the words that it starts a program with.
SCRIPTS = {
    "a function's own arguments": (
        "N=$1\ngo() {\n  local tp=$1 pp=$2; shift 2\n"
        '  train --nodes $N --tp $tp --pp $pp "$@" --left $#\n}\ngo 2 4 --zero --bf16\n',
        "16",
        "--nodes 16 --tp 2 --pp 4 --zero --bf16 --left 2",
    ),
    "a function that calls another": (
        "function inner { train --tp $1 --of $2; }\nouter() { inner $2 $1; }\nouter 1 8 x\n",
        "",
        "--tp 8 --of 1",
    ),
    "a local name is put back": (
        "TP=1\nadd() { local TP=$1; ARGS+=(--add $TP); }\nadd 3\nadd 4\n"
        'train --tp $TP "${ARGS[@]}"\n',
        "",
        "--tp 1 --add 3 --add 4",
    ),
    "a function that returns": (
        "size() { if [ $1 = 7b ]; then L=32; return; fi; L=40; }\nsize 7b\ntrain --layers $L\n",
        "",
        "--layers 32",
    ),
    "what is handed to a runner": (
        'run() { echo "+ $*"; "$@"; }\nrun train --tp 2\n',
        "",
        "--tp 2",
    ),
    "arguments by a loop": (
        "TP=1; PP=1\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --tp) TP=$2; shift 2;;\n"
        "    --pp=*) PP=${1#*=}; shift;;\n    --) shift; break;;\n    *) shift;;\n  esac\ndone\n"
        'train --tp $TP --pp $PP "$@"\n',
        "--tp 8 --pp=2 other -- --more",
        "--tp 8 --pp 2 --more",
    ),
    "arguments until there are none": (
        'while [ -n "$1" ]; do\n case "$1" in -t|--tp) shift; TP=$1;; esac\n shift\ndone\n'
        "train --tp $TP\n",
        "-x --tp 4",
        "--tp 4",
    ),
    "options by letters": (
        'while getopts "t:xp:" o; do case $o in t) TP=$OPTARG;; x) X=--extra;; p) PP=$OPTARG;; '
        "esac; done\nshift $((OPTIND-1))\ntrain --tp $TP --pp $PP $X $1\n",
        "-t 2 -xp4 rest",
        "--tp 2 --pp 4 --extra rest",
    ),
    "each argument": (
        'for one in "$@"; do case $one in tp=*) TP="${one##*=}";; *) PP=${one%x};; esac; done\n'
        "train --tp $TP --pp $PP\n",
        "tp=2 4x",
        "--tp 2 --pp 4",
    ),
    "sums as conditions": (
        "SP=1; N=2; A=-\nif (( SP > 0 )); then A=--sp; fi\nif ((SP && N < 2)); then A=--no; fi\n"
        "(( N >= 2 )) && B=--two\n(( N > 2 )) || C=--few\n! (( N == 2 )) || D=--both\n"
        "((N*=4)); ((N++))\ntrain $A $B $C $D --n $N\n",
        "",
        "--sp --two --few --both --n 9",
    ),
    "a loop that counts": (
        "for ((i=1;i<=4;i*=2)); do A+=(--at $i); done\nn=3\nwhile (( n > 0 )); do ((n--)); "
        'A+=(--left $n); done\ntrain "${A[@]}"\n',
        "",
        "--at 1 --at 2 --at 4 --left 2 --left 1 --left 0",
    ),
    "a loop that appends": (
        "for o in --sp --zero; do ARGS+=($o); done\nfor i in {1..3}; do [ $i = 2 ] && continue; "
        'S+=" --s$i"; done\nfor i in $(seq 2 2 6); do [ $i = 6 ] && break; T+=$i; done\n'
        'train "${ARGS[@]}" $S --t $T\n',
        "",
        "--sp --zero --s1 --s3 --t 24",
    ),
    "loops in loops, and a skipped one": (
        "for a in 1 2; do for b in 3 4; do A+=($a$b); done; done\nif [ 1 = 2 ]; then for a in 9; "
        'do A+=(9); done; fi\ntrain --of "${A[@]}"\n',
        "",
        "--of 13 14 23 24",
    ),
    "a comment that cuts": (
        "train --tp 2 \\\n  # --pp 4 \\\n  --zero\n",
        "",
        "--tp 2",
    ),
    "arrays in an inner shell": (
        'ARGS=(--tp 2 --pp 4)\nexport -f train\nbash -c "train --n 1 ${ARGS[*]} --bf16"\n',
        "",
        "--n 1 --tp 2 --pp 4 --bf16",
    ),
    "texts that stand here": (
        "TP=2; read -r -d '' A <<EOF\n--tp $TP\n--pp 4\nEOF\n"
        "read -r -d '' B <<'EOF'\n--raw $TP\nEOF\n"
        'C=$(cat <<EOF\n--sum $((TP*2))\nEOF\n)\nread x y <<< "8 9 10"\n'
        "train $A $B $C --x $x --y $y\n",
        "",
        "--tp 2 --pp 4 --raw $TP --sum 4 --x 8 --y 9 10",
    ),
    "what leaves two loops, and one": (
        "for i in 1 2; do for j in 1 2 3; do [ $j = 2 ] && break 2; A+=$i$j; done; done\n"
        "for i in 1 2; do for j in 1 2; do [ $j = 2 ] && continue 2; B+=$i$j; done; C=1; done\n"
        "train --a $A --b $B --c ${C:-no}\n",
        "",
        "--a 11 --b 1121 --c no",
    ),
    "a table of an inner shell": (
        "declare -A S=([tp]=2)\n(S[tp]=9; S[pp]=4)\ntrain --tp ${S[tp]} --pp ${S[pp]:-1}\n",
        "",
        "--tp 2 --pp 1",
    ),
    "shells within": (
        "TP=2; PP=2\n(TP=9; cd /)\nbash -c 'PP=9; echo'\n{ CP=4; }\n"
        "train --tp $TP --pp $PP --cp $CP\n",
        "",
        "--tp 2 --pp 2 --cp 4",
    ),
    "several conditions at once": (
        "export A=1 && B=2 && [[ a == a && b != c ]] && C=3\ntest 1 -eq 1 && D=4\n"
        "[[ 1 -gt 2 || a < b && -z x ]] && E=5\ntrain $A $B $C $D ${E:-none}\n",
        "",
        "1 2 3 4 none",
    ),
    "how a function ends": (
        "two() { [ $# -ne 2 ] && return 1; train --a $1; }\ntwo 1 || two 3 4\n",
        "",
        "--a 3",
    ),
    "settings as arguments": (
        'for one in "$@"; do export "$one"; done\ntrain --tp $TP --pp $PP\n',
        "TP=4 PP=2",
        "--tp 4 --pp 2",
    ),
    "arrays without values": (
        'F=(); [ 1 = 1 ] && F+=(--f)\nset -- "${F[@]}" "${G[@]}" "${F[@]:1}"\ntrain $# "$1"\n',
        "",
        "1 --f",
    ),
    "sums that set": (
        "A=5; : $((A*=2)); i=0; while [ $((i++)) -lt 2 ]; do S+=$i; done\ntrain $A $S $i\n",
        "",
        "10 12 3",
    ),
    "what is set no more": (
        "A=1; B=(1 2); unset A B; B+=(3)\ntrain ${A:-2} ${B[@]}\n",
        "",
        "2 3",
    ),
    "words in braces": (
        "for x in 1{0,5} {08..10} {3..1}; do A+=$x,; done\ntrain $A\n",
        "",
        "10,15,08,09,10,3,2,1,",
    ),
    "arguments of an inner shell": (
        "export -f train\nbash -c 'train --a $1 $#' name 4 5\ntrained=$#\n",
        "x",
        "--a 4 2",
    ),
    "words cut at commas": (
        'for c in "4,2" "8,1"; do IFS=, read -r TP PP <<< "$c"; [ $TP = 8 ] && break; done\n'
        "train --tp $TP --pp $PP\n",
        "",
        "--tp 8 --pp 1",
    ),
    "tables": (
        "declare -A L=([7b]=32 [13b]=40)\nL[70b]=80\nS=13b\nA=(5 6 7)\n"
        "train --l ${L[$S]} --m ${L[70b]} --n ${#A[@]} --a ${A[1]} --last ${A[-1]} ${A[@]:1}\n",
        "",
        "--l 40 --m 80 --n 3 --a 6 --last 7 6 7",
    ),
    "commands that follow others": (
        "cd / && train --tp 2\n",
        "",
        "--tp 2",
    ),
    "a group that is not reached": (
        "A=1\n[ $A = 2 ] && { A=5; B=6; }\n[ $A = 1 ] && { C=7; D=8; }\n"
        "train --a $A --b ${B:-0} --c $C --d $D\n",
        "",
        "--a 1 --b 0 --c 7 --d 8",
    ),
    "a case in a case": (
        "X=a; case $X in b) case c in c) T=1;; esac; T=2;; (a) case d in d) T=3;; esac;; esac\n"
        "train --t $T\n",
        "",
        "--t 3",
    ),
    "arguments set anew": (
        'set -- --tp 2 "$@"\ntrain "${@:1:2}" --all "$*" --n $#\n',
        "x y",
        "--tp 2 --all --tp 2 x y --n 4",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_words_are_those_that_bash_starts_the_program_with(name: str) -> None:
    script, arguments, right = SCRIPTS[name]
    assert started_by_bash(script, arguments) == [right]
    assert started_as_followed(script, arguments) == [right]


def test_a_loop_that_launches_is_taken_at_its_first_value() -> None:
    script = followed("for t in 1 2 4; do train --tp $t; done\n", "run.sh", {})
    assert [one.words for one in script.commands] == [["train", "--tp", "1"]]
    assert script.notes == ["line 1: a loop's first value was taken"]
    chosen = followed("for t in 1 2 4; do train --tp $t; done\n", "run.sh", {"t": "4"})
    assert [one.words for one in chosen.commands] == [["train", "--tp", "4"]]


def test_arguments_of_a_loop_that_is_not_followed_are_refused() -> None:
    text = "TP=1\nwhile is_more $1; do TP=$2; shift; done\ntrain --tp $TP\n"
    with pytest.raises(ConfigError, match=r"run\.sh:2: arguments given are not used because"):
        followed(text, "run.sh", {"1": "--tp", "2": "4"})
    script = followed(text, "run.sh", {})
    assert script.commands[-1].words == ["train", "--tp", "1"]
    assert script.notes == ["line 2: a loop was not followed"]


def test_an_argument_that_the_script_does_not_know_is_refused() -> None:
    text = "while (( $# )); do case $1 in --tp) T=$2; shift 2;;\n*) usage; exit 1;; esac; done\n"
    with pytest.raises(ConfigError, match=r"run\.sh:2: with the arguments given the script stops"):
        followed(text, "run.sh", {"1": "--pp", "2": "4"})


WITHOUT_END = [
    "f() { f; f; }\nf\n",
    "f() { g; g; }; g() { h; h; }; h() { for i in {1..200}; do f; done; }\nf\n",
    "for a in {1..99}; do for b in {1..99}; do for c in {1..99}; do X=$a; done; done; done\n",
    "while true; do while true; do while true; do X+=y; done; done; done\n",
    "A=('' ''); while true; do A+=(\"${A[@]}\"); done\n",
    "X=y; while true; do X=$X$X; done\n",
    "for a in {1..200}; do " * 60 + "X=1; " + "done; " * 60,
    "f() { " * 5000 + "}; " * 5000,
    "((" * 50_000,
    "while true; do [ " + "x " * 90_000 + "]; done",
    "X=" + "y" * 150_000 + "; while true; do X+=z; done; echo $X",
    "$(echo " * 30 + ")" * 30,
    "[[ " + "a && " * 30_000 + "b ]]",
    "set -- " + "a " * 60_000 + "; while true; do shift; done",
    "set -- " + "a " * 60_000 + "\n" + "X=$#\n" * 10_000,
]


@pytest.mark.parametrize("text", WITHOUT_END)
def test_loops_and_calls_without_end_are_bounded(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert len(followed(text, "run.sh", {}).commands) < 1000


@pytest.mark.timed
@pytest.mark.parametrize("text", WITHOUT_END)
def test_loops_and_calls_without_end_take_less_than_a_second(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(ConfigError):
        followed(text, "run.sh", {})
    assert time.process_time() - start < 1


def test_calls_of_itself_are_refused_with_the_line() -> None:
    with pytest.raises(ConfigError, match=r"run\.sh:2: f\(\) calls itself"):
        followed("f() {\n  f 1\n}\nf\n", "run.sh", {})


def test_a_function_that_is_never_called_is_told() -> None:
    script = followed("go() {\n train --tp 2\n}\n$1\n", "run.sh", {})
    assert all(one.words[0] != "train" for one in script.commands)
    assert script.uncalled == ["line 1: go() is never called, as far as is followed"]
