"""Draw public launch files by a seed, ask each, and write what was answered into a table.

``python bench/launch_draw.py MIRRORS --seed 201 --table draw.csv``: MIRRORS is a folder that holds
git directories or plain copies of repositories. A repository is drawn first and a file of it then,
so that a repository of a thousand files counts no more than one of ten. ``--under PART`` takes
every launch file whose path has that part instead: a whole folder. ``--but SEEN`` leaves out what
a repository of that other folder holds letter for letter, such as what a fork never touched.
No file drawn is kept here.
What a file leaves to whoever starts it is told as small as its layout allows, and the table says
so: a file of unknown sizes of a model is told one too, and counts apart. Whether an answer is
right is for eyes: the columns are those of `steptime explain`.
"""

from __future__ import annotations

import argparse
import collections
import csv
import hashlib
import io
import math
import os
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

BESIDE = (".csv",)
ENDS = (".sh", ".slurm", ".sbatch", ".bash", ".yaml", ".yml", ".toml", ".json", ".args", ".py")
LARGEST_BYTES = 200_000
NAMES = re.compile(
    rb"--num-layers|--tensor-model-parallel-size|tensor_model_parallel_size|--micro-batch-size|"
    rb"micro_batch_size|train_micro_batch_size_per_gpu|per_device_train_batch_size|"
    rb"tensor_parallel_degree|data_parallel_shard_degree|num[-_]layers\"?\s*:|"
    rb"pipe[-_]parallel[-_]size|device_train_microbatch_size|ici_fsdp_parallelism|"
    rb"per_device_batch_size|global_batch_size|distributed_type|pretrain_recipe|pretrain_config"
)
"""What a file that launches a training names, whichever framework runs it."""
FLAGS = re.compile(rb"--(num-layers|tensor-model|micro-batch|per_device|deepspeed|config|global)")
RECIPES = re.compile(
    rb"pretrain_recipe|def \w+(pretrain|sft|finetune)\w*_config|Trainer\.Config|ExperimentConfig"
)
"""A script and a Python file hold one of these more; others are the library of a framework."""
NOT_DRAWN = re.compile(r"golden|result|/unit|node_modules|tokenizer\.json|vocab\.json", re.I)
"""Parts of paths of what was measured, and of what launches nothing."""
GPUS = 8
"""As many are told at least, where a file leaves them open."""
CHOICES = {
    **{"zero_stage": "1", "recompute": "none", "sequence_parallel": "false"},
    **dict.fromkeys(("tp", "pp", "cp", "ep", "etp", "vpp"), "1"),
    "vocab_size": "128256",
}
"""What else is told. Where only the entries of a tokenizer are open, its file names the model."""
COLUMNS = ("file", "format", "outcome", "told", "model", "parameters", "layout", "step", "sentence")


def unpacked(mirrors: Path, into: Path) -> dict[str, list[str]]:
    """Return the launch files of every repository, unpacked with the text files beside them."""
    found: dict[str, list[str]] = {}
    for mirror in sorted(path for path in mirrors.iterdir() if path.is_dir()):
        heads = [path.parent for path in (*mirror.glob("HEAD"), *mirror.glob("*/HEAD"))]
        here = into / mirror.name if heads else mirror
        if heads and not here.exists():
            here.mkdir(parents=True)
            for name, content in texts(heads[0]):
                (here / name).parent.mkdir(parents=True, exist_ok=True)
                (here / name).write_bytes(content)
        files = sorted(path for path in here.rglob("*") if path.is_file() and is_launch(path, here))
        if files:
            found[mirror.name] = [str(path) for path in files]
    return found


def blobs(git: Path) -> Iterator[tuple[str, str]]:
    """Return the small files of a git directory that may launch something, by their content."""
    call = ["git", "--git-dir", str(git), "ls-tree", "-r", "-l", "-z", "HEAD"]
    listed = subprocess.run(call, capture_output=True)
    for line in listed.stdout.decode(errors="replace").split("\0"):
        head, _, name = line.partition("\t")
        size = head.rpartition(" ")[2]
        small = size.isdigit() and int(size) < LARGEST_BYTES
        if small and name.lower().endswith((*ENDS, *BESIDE)) and ".." not in name:
            yield head.split()[2], name


def texts(git: Path) -> Iterator[tuple[str, bytes]]:
    """Return what the small files of a git directory hold."""
    wanted = list(blobs(git))
    call = ["git", "--git-dir", str(git), "cat-file", "--batch"]
    asked = "".join(f"{blob}\n" for blob, _ in wanted).encode()
    told = io.BytesIO(subprocess.run(call, input=asked, capture_output=True).stdout)
    for _, name in wanted:
        size = told.readline().split()[-1]
        # What a mirror lists and does not hold is said to be missing.
        if size.isdigit():
            yield name, told.read(int(size))
            told.read(1)


def held(mirrors: Path) -> set[str]:
    """Return the contents that the git directories of a folder hold, as git names them."""
    heads = [path.parent for path in (*mirrors.glob("*/HEAD"), *mirrors.glob("*/*/HEAD"))]
    return {blob for head in heads for blob, _ in blobs(head)}


def content_of(path: str) -> str:
    """Return a file's content as git names it."""
    content = Path(path).read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_launch(path: Path, root: Path) -> bool:
    """Return whether a file names what a training is launched with."""
    if path.suffix not in ENDS or NOT_DRAWN.search(str(path.relative_to(root))):
        return False
    content = path.read_bytes()
    if not NAMES.search(content):
        return False
    if path.suffix == ".py":
        return bool(RECIPES.search(content))
    is_script = path.suffix in (".sh", ".slurm", ".sbatch", ".bash")
    return not is_script or bool(FLAGS.search(content))


def drawn(files: dict[str, list[str]], seed: int, number: int) -> list[str]:
    """Return so many files: of a repository drawn by the seed, one drawn by it."""
    chance, found = random.Random(seed), []
    repositories = sorted(files)
    most = min(number, sum(map(len, files.values())))
    while len(found) < most:
        one = chance.choice(files[chance.choice(repositories)])
        if one not in found:
            found.append(one)
    return found


def told(reading: Any) -> dict[str, Any]:
    """Return what a file leaves open, as small as its layout allows."""
    gaps = {gap.partition(":")[0] for gap in reading.missing}
    given: dict[str, Any] = {name: word for name, word in CHOICES.items() if name in gaps}
    given |= {"seq_length": 4096} if "seq_length" in gaps else {}
    given |= {"micro_batch_size": 1} if "micro_batch_size" in gaps else {}
    size = {name: int(reading.value(name, 1) or 1) for name in ("tp", "pp", "cp", "ep", "etp")}
    group = size["tp"] * size["pp"] * size["cp"]
    gpus = fewest_gpus(reading, group, max(group, size["ep"] * size["etp"] * size["pp"]))
    if "num_gpus" in gaps:
        given["num_gpus"] = gpus
    if "global_batch_size" in gaps:
        given["global_batch_size"] = gpus * 4 * int(reading.value("micro_batch_size", 1) or 1)
    return given


def one_recipe(refusal: str) -> dict[str, str]:
    """Return the first of several that a file holds, as its refusal lists them; else nothing."""
    asked = re.search(r"--set (\w+)=NAME(?:: |, one of )([\w.-]+)", refusal)
    return {asked[1]: asked[2]} if asked else {}


def fewest_gpus(reading: Any, group: int, whole: int) -> int:
    """Return a number of devices that holds the layout, and over which the batch divides."""
    shared, copies = reading.value("dp"), int(reading.value("dp_replicate", 1) or 1)
    if shared:
        return int(shared) * group
    whole = math.lcm(whole, int(reading.value("devices of fixed axes", 1)))
    gpus = whole * max(1, -(-GPUS // whole))
    gpus *= 1 if (gpus // group) % copies == 0 and gpus > copies else copies
    batch, micro = reading.value("global_batch_size"), reading.value("micro_batch_size", 1)
    while batch and gpus % 2 == 0 and gpus > whole and int(batch) % (gpus // group * int(micro)):
        gpus //= 2
    return gpus


def asked(name: str, accelerator: Any) -> dict[str, Any]:
    """Return what a file is answered."""
    from steptime.answer import Question, answer
    from steptime.formulas.parameters import num_parameters
    from steptime.inputs.errors import ConfigError
    from steptime.inputs.layout import Layout
    from steptime.inputs.said import NOTHING_SAID
    from steptime.inputs.training_step import shape_named
    from steptime.planning.explain import step_of
    from steptime.readers import read_configuration
    from steptime.readers.other_model import take_model

    found: dict[str, Any] = {"outcome": "refused"}
    words: dict[str, str] = {}
    try:
        try:
            reading = read_configuration(name)
        except ConfigError as refusal:
            words = one_recipe(str(refusal))
            if not words:
                raise
            reading = read_configuration(name, words)
        found["format"] = reading.kind
        given = words | told(reading)
        words = {key: word for key, word in given.items() if isinstance(word, str)}
        reading = read_configuration(name, words) if words else reading
        found["outcome"] = "answered"
        if reading.model is None:
            found["outcome"] = "answered with another model"
            take_model(reading, shape_named("llama3-8b"))
            given["model"] = "llama3-8b"
        numbers = {k: n for k, n in given.items() if k not in (*words, "model")}
        found["told"] = " ".join(f"{key}={word}" for key, word in given.items())
        step = step_of(reading, accelerator, numbers, NOTHING_SAID)
        got = answer(Question(step=step))
    except ConfigError as refusal:
        return found | {"outcome": "refused", "sentence": str(refusal)}
    shape, plain = step.model, Layout()
    cut = {f.name: getattr(step.layout, f.name) for f in fields(plain)}
    cut = {name: value for name, value in cut.items() if value != getattr(plain, name)}
    cut |= {field.name: getattr(step.batch, field.name) for field in fields(step.batch)}
    return found | {
        "model": f"{shape.name} {shape.num_layers} x {shape.hidden_size}, {shape.vocab_size} words",
        "parameters": f"{num_parameters(got.record) / 1e9:.3f}e9",
        "layout": " ".join(f"{name}={value}" for name, value in cut.items()),
        "step": f"{got.step_time_s:.3f} s, {'fits' if got.fits else 'does not fit'}",
        "sentence": "; ".join(reading.notes),
    }


def main() -> None:
    """Draw, ask, write the table and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--under", help="take every launch file whose path has this part")
    parser.add_argument("--into", type=Path, default=Path("build/launch-draw"))
    parser.add_argument("--table", type=Path, default=Path("build/launch-draw.csv"))
    parser.add_argument("--accelerator", default="b200")
    parser.add_argument("--but", type=Path, help="leave out what these mirrors hold too")
    options = parser.parse_args()
    from steptime.inputs.presets import accelerator

    device = accelerator(options.accelerator)
    files = unpacked(options.mirrors, options.into)
    seen = held(options.but) if options.but else set()
    files = {one: [n for n in names if content_of(n) not in seen] for one, names in files.items()}
    files = {one: names for one, names in files.items() if names}
    every = [name for names in files.values() for name in names]
    under = [name for name in every if options.under and options.under in name]
    names = under if options.under else drawn(files, options.seed, options.number)
    rows = [{"file": os.path.relpath(name)} | asked(name, device) for name in names]
    options.table.parent.mkdir(parents=True, exist_ok=True)
    with options.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    counts = collections.Counter(row["outcome"] for row in rows)
    print(f"{len(rows)} of {len(every)} launch files of {len(files)} repositories: {dict(counts)}")


if __name__ == "__main__":
    main()
