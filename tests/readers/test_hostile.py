"""Files that mean harm, or nothing: always a clear refusal, soon, and in little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_python import PYTHON
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import outcome

from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES

FILES = Path(__file__).parent / "launch"
CONFIGS = json.loads((Path(__file__).parent / "hub_configs.json").read_text())
CASES = Path(__file__).parent / "cases"
SEEDS = {
    ".json": json.dumps(CONFIGS[-1]["config"], indent=1).encode(),
    ".sh": (FILES / "llama70b.sh").read_bytes(),
    ".yaml": (FILES / "deepseek.yaml").read_bytes(),
    ".toml": (FILES / "llama405b.toml").read_bytes(),
    "-launch.json": (CASES / "deepspeed.json").read_bytes(),
    "-nanotron.yaml": (CASES / "nanotron.yaml").read_bytes(),
    "-neox.yml": (CASES / "gpt-neox.yml").read_bytes(),
    "-nemo.yaml": (CASES / "nemo1-tokenizer.yaml").read_bytes(),
    "-axolotl.yaml": (CASES / "axolotl.yaml").read_bytes(),
    "-eval.sh": (CASES / "eval-redirect.sh").read_bytes(),
}
TEN_MB = 10_000_000
PIECES = b"\" ' { [ ${ $( - \xff \0 nan 1e999 null true : # *a &a \\ 999999999999999999999".split()
PIECES += [b"", b"\n", b"\t", b": "]

Q = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# --- invariant: whatever the bytes, an answer or a ConfigError


@pytest.mark.parametrize("suffix", SEEDS)
@Q
@given(data=st.data())
def test_truncated_and_changed_files(suffix: str, data: st.DataObject, tmp_path: Path) -> None:
    seed = bytearray(SEEDS[suffix])
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(seed) - 1))
        piece = data.draw(st.sampled_from(PIECES))
        seed[place : place + data.draw(st.integers(0, 5))] = piece
    cut = data.draw(st.integers(1, len(seed)))
    path = tmp_path / f"file{suffix}"
    path.write_bytes(bytes(seed[:cut]))
    outcome(path)


@pytest.mark.parametrize("suffix", SEEDS)
@Q
@given(body=st.binary(min_size=1, max_size=200) | st.text(min_size=1, max_size=200))
def test_any_bytes(suffix: str, body: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass"))
    assert outcome(path) != "read"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@Q
@given(key=st.sampled_from(sorted(CONFIGS[-1]["config"])), value=VALUES)
def test_any_value_of_any_key(key: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS[-1]["config"] | {key: value}))
    outcome(path)


# --- limit: ten megabytes that a naive reader chokes on

HOSTILE = {
    "deep.json": b"[" * TEN_MB,
    "deep-object.json": b'{"a":' * (TEN_MB // 5),
    "digits.json": b'{"num_hidden_layers":' + b"9" * TEN_MB + b"}",
    "digits-below-the-limit.json": b'{"model_type":"llama","hidden_size":' + b"9" * 900_000 + b"}",
    "deep-below-the-limit.json": b"[" * 900_000,
    "keys-below-the-limit.json": b"{" + b",".join(b'"%d":1' % i for i in range(80_000)) + b"}",
    "zeros.json": b"\0" * TEN_MB,
    "deep.yaml": b"".join(b" " * i + b"a:\n" for i in range(1300)),
    "long-line.yaml": b"tp: " + b"x" * 900_000,
    "many.yaml": b"tp: 1\n" * 150_000,
    "dashes.yaml": b"- " * 450_000,
    "flow.yaml": b"tp: " + b"[" * 900_000,
    "colons.yaml": b"a:" * 450_000,
    "spaces-and-colons.yaml": b"a b" * 300_000 + b" : 1",
    "alias.yaml": b"a0: &a0 1\n" + b"".join(b"a%d: &a%d *a0\n" % (i, i) for i in range(1, 9000)),
    "refer.yaml": b"tp: ${a}\na: ${b}${b}\nb: ${a}${a}\n",
    "dots.toml": b".".join([b"a"] * 90_000) + b" = 1",
    "arrays.toml": b"[training]\nx = " + b"[" * 190_000,
    "tables.toml": b"".join(b"[a%d]\n" % i for i in range(20_000)),
    "same-tables.toml": b"[[a]]\n" * 30_000,
    "inline.toml": b"x = " + b"{a=" * 60_000,
    "growth.sh": b"A=xxxxxxxxxx\n" + b"A=$A$A\n" * 60 + b"t.py --num-layers $A\n",
    "parentheses.sh": b"A=$((" + b"(" * 900_000,
    "substitutions.sh": b"A=" + b"$(" * 450_000,
    "braces.sh": b"A=" + b"${A:-" * 180_000,
    "quotes.sh": b"A='\"" * 225_000,
    "ifs.sh": b"if true; then\n" * 60_000,
    "sums.sh": b"A=$((" + b"1+" * 400_000 + b"1))\nt.py --num-layers $A\n",
    "powers.sh": b"A=9\n" + b"A=$((A*A))\n" * 60_000 + b"t.py --num-layers $A\n",
    "heredoc.sh": b"cat <<E\n" * 100_000,
    "flags.sh": b"t.py --num-layers 2 " + b"--a 1 " * 150_000,
    "comments.sh": b"#" * 900_000,
    "many-flags.sh": b"t.py --num-layers 2 " + b" ".join(b"--f%d 1" % i for i in range(20_000)),
    "evals.sh": b"A='eval $A; eval $A'\n" + b"eval $A\n" * 20_000,
    "shifts.sh": b"shift\n" * 30_000 + b"t.py --num-layers $1\n",
    "documents.sh": b"".join(b"cat > f%d <<E\n$A$A\nE\n" % i for i in range(9_000)),
    "layout.sh": b"t.py --num-layers 4 --pipeline-model-parallel-layout '"
    + b"((t|)*9999" * 15_000 + b"'",
    "pattern.sh": b"t.py --num-layers 4 --hidden-size 4 --num-attention-heads 1 --vocab-size 8 "
    b"--num-experts 4 --moe-layer-freq '" + b"(" * 900 + b"[1]" + b"*9999)" * 900 + b"'",
    "merges.yaml": b"a0: &a0 {x: 1, y: 2}\n"
    + b"".join(b"a%d: &a%d {<<: *a%d, z: *a%d}\n" % (i, i, i - 1, i - 1) for i in range(1, 999)),
    "unknown.yaml": b"tp: 1\n" + b"".join(b"k%d_lora_loss_x: 1\n" % i for i in range(2_900)),
    "more-unknown.yaml": b"tp: 1\n" + b"".join(b"k%d: 1\n" % i for i in range(20_000)),
    "launch-keys.json": b'{"train_batch_size":8,"zero_optimization":{'
    + b",".join(b'"k%d":1' % i for i in range(15_000)) + b"}}",
    "backslashes.sh": b"\\\n" * 450_000,
    "random.sh": bytes(range(1, 256)) * 3000,
    "binary.json": bytes(range(256)) * 40_000,
}  # fmt: skip
HOSTILE |= PYTHON


def hostile(folder: Path, name: str) -> Iterator[Path]:
    """Write a file as large as it came, and cut to the largest size that is read at all."""
    path = folder / name
    for body in sizes(HOSTILE[name]):
        path.write_bytes(body)
        yield path


def sizes(body: bytes) -> list[bytes]:
    """Return a body, and as much of it as is read at all where that is less."""
    cut = body[:LARGEST_LAUNCH_BYTES]
    return [body] if cut == body else [body, cut]


ELSEWHERE = """
import json, resource, sys
from outcomes import outcome
def held():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
from pathlib import Path
before, told = held(), {}
for path in sys.argv[1:]:
    try:
        told[Path(path).name] = [True, outcome(Path(path))]
    except BaseException as error:
        told[Path(path).name] = [False, repr(error)]
print(json.dumps([held() - before, told]))
"""
Elsewhere = tuple[int, dict[str, tuple[bool, str]]]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """Give what another process makes of every hostile file, and the KiB that it takes for that.

    Each file comes as large as it is, and cut to the largest size that is read at all.
    """
    folder, paths = tmp_path_factory.mktemp("hostile"), []
    for name, body in HOSTILE.items():
        for place, part in enumerate(sizes(body)):
            path = folder / f"{'cut-' * place}{name}"
            path.write_bytes(part)
            paths.append(str(path))
    before = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *paths],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(before)},
    )
    grown_kib, told = json.loads(done.stdout)
    return grown_kib, {name: (whole, said) for name, (whole, said) in told.items()}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_read_or_refused(name: str, elsewhere: Elsewhere) -> None:
    for place, _ in enumerate(sizes(HOSTILE[name])):
        well, said = elsewhere[1][f"{'cut-' * place}{name}"]
        assert well, said


def test_hostile_files_take_under_200_mb(elsewhere: Elsewhere) -> None:
    assert elsewhere[0] < 200_000


@pytest.mark.timed
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_takes_less_than_a_second(name: str, tmp_path: Path) -> None:
    for path in hostile(tmp_path, name):
        start = time.process_time()
        outcome(path)
        assert time.process_time() - start < 1.0


# --- refusal: things that are no file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.sh"
    os.mkfifo(pipe)
    assert "not a regular file" in outcome(pipe)


@pytest.mark.parametrize("name", ["/dev/zero", "x\0y.json", "a" * 5000 + ".toml", ""])
def test_paths_that_are_none(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        read_configuration(name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!!python/object/apply:os.system ['x']", "python/object/apply:os.system': only plain"),
        ("a: 1\nb: !!python/name:os.system x", ":2: tag 'tag:yaml.org,2002:python/name:os.system'"),
        ("a: !mine {b: 1}", "tag '!mine': only plain values are read"),
        ("[1, 2]", ":1: expected 'key: value', got a list"),
        ("- a: 1", ":1: expected 'key: value', got a list"),
    ],
)
def test_yaml_that_would_build_objects_or_holds_no_keys(
    text: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    assert reason in outcome(path)


# --- files beside the one that is read


def test_no_file_above_the_folder_of_models_is_one(tmp_path: Path) -> None:
    models = tmp_path / "primus" / "configs" / "models" / "megatron"
    models.mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("num_layers: 7\n")
    (models / "root.yaml").write_text("num_layers: 5\n")
    (models / "legal.yaml").write_text("extends: [root.yaml]\n")
    (models / "own.yaml").write_text("extends: [../../../../secret.yaml, /dev/zero, own.yaml]\n")
    # A file beside it is read: what is refused is where the others stand.
    for model, layers in (("legal", 5), ("own", None), ("../../../../secret", None)):
        path = tmp_path / "run.yaml"
        path.write_text(
            "modules:\n  pre_trainer:\n    framework: megatron\n    overrides:\n"
            f"      micro_batch_size: 1\n    model: {model}.yaml\n"
        )
        assert read_configuration(path).value("num_layers") == layers, model


@pytest.mark.parametrize("build", ["[x, x]", "[x[:9], x[0:9]]"])
def test_lists_of_lists_end(build: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "def own():\n    x = [1, 2]\n"
        + f"    x = {build}\n" * 200
        + "    r = llm.llama3_8b.pretrain_recipe()\n"
        + "    r.data.global_batch_size = x\n    return r\n"
    )
    start = time.process_time()
    with pytest.raises(ConfigError, match=r":204: data\.global_batch_size must be a whole number"):
        read_configuration(path)
    assert time.process_time() - start < 1.0
