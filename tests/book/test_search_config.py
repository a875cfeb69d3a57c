"""A pasted `config.json`: the page's reader under Node against the package's, family by family."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steptime.book.node import node_path
from steptime.book.search_page import modules
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import JOB_FIELDS, job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.no_shapes import INSTEAD, INSTEAD_ON_PAGE
from steptime.inputs.presets import accelerator
from steptime.readers.huggingface import shape_reading
from steptime.readers.huggingface.families import FAMILIES
from steptime.readers.huggingface.family_names import REFUSED_FAMILIES, REFUSED_KEYS, TOWERS
from steptime.readers.huggingface.model import CONFIG

PUBLISHED = Path(__file__).parents[1] / "readers" / "hub_configs.json"
FIELDS = JOB_FIELDS[: JOB_FIELDS.index("seq_length")]
ROUNDS = 40
"""Files drawn for each family."""
SIZES: dict[str, list[Any]] = {
    "layers": [24, 30, 61],
    "hidden": [2048, 4096],
    "heads": [16, 32],
    "groups": [2, 4, 8],
    "ffn": [5632, 11008],
    "positions": [2048],
    "experts": [8, 64, 0],
    "top_k": [2, 4],
    "expert_ffn": [768, 1408],
    "shared": [0, 1, 2],
    "shared_ffn": [0, 1408, 5000],
    "dense_layers": [0, 1, 3],
}
"""Values for the keys of each size of a family."""
OTHERS: dict[str, list[Any]] = {
    "vocab_size": [32000, 151936],
    "head_dim": [64, 128, None],
    "tie_word_embeddings": [True, False],
    "word_embed_proj_dim": [512, 2048],
    "sliding_window": [4096, None],
    "use_sliding_window": [True, False],
    "max_window_layers": [0, 10, 70],
    "sliding_window_pattern": [2, 6],
    "attention_chunk_size": [8192],
    "layer_types": [["full_attention"] * 3 + ["sliding_attention"] * 5, ["other"], []],
    "multi_query": [True, False],
    "new_decoder_architecture": [True, False],
    "attn_config": [{"kv_n_heads": 8}, {"attn_type": "multiquery_attention"}, {}],
    "expansion_ratio": [4, 3],
    "mlp_gated": [True, False],
    "mlp_only_layers": [[], [0, 1], [3, 5]],
    "moe_layer_freq": [1, 2, [0, 1, 1, 1]],
    "decoder_sparse_step": [1, 2],
    "interleave_moe_layer_step": [1, 2],
    "attention_layers": [["global", "local"] * 6],
    "q_lora_rank": [1536, None],
    "kv_lora_rank": [512],
    "qk_nope_head_dim": [128],
    "qk_rope_head_dim": [64],
    "v_head_dim": [128],
    "num_nextn_predict_layers": [0, 1],
}
BAD: list[Any] = [0, -3, 12.5, True, "many", 10**9]
SURE = ("vocab_size", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")


def drawn(kind: str, draw: random.Random) -> dict[str, Any]:
    """Return a file of a family with most of its keys, and now and then a bad one."""
    family = FAMILIES[kind]
    keys: dict[str, Any] = {"model_type": kind}
    for name, values in SIZES.items():
        known = getattr(family, name)
        if known and draw.random() < 0.9:
            keys[draw.choice(known)] = draw.choice(values)
    for name, values in OTHERS.items():
        if name in SURE or draw.random() < 0.3:
            keys[name] = draw.choice(values)
    if draw.random() < 0.1:
        keys[draw.choice(list(keys))] = draw.choice(BAD)
    if draw.random() < 0.03:
        keys[draw.choice(list(REFUSED_KEYS))] = draw.choice([True, [1]])
    # Some have an encoder of images beside them, or say that they have none.
    if draw.random() < 0.1:
        keys[draw.choice(TOWERS)] = draw.choice([{"depth": 32}, {}, None, "clip", 0])
    return {"model_type": "llava", "text_config": keys} if draw.random() < 0.05 else keys


def texts() -> list[str]:
    """Return published files, drawn ones of each family, and such as must be refused."""
    draw = random.Random(8)
    published = [row["config"] for row in json.loads(PUBLISHED.read_text("utf-8"))]
    every = [drawn(kind, draw) for kind in FAMILIES for _ in range(ROUNDS)]
    refused = [{"model_type": kind} for kind in REFUSED_FAMILIES]
    return [json.dumps(one, indent=1) for one in (*published, *every, *refused, {}, {"a": 1})]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any]]]:
    """Return each text with what the page reads from it."""
    folder: Path = tmp_path_factory.mktemp("config")
    made = modules()
    (folder / "find").mkdir()
    for name in ("find/config.js", "find/tables.js"):
        (folder / name).write_text(made[name], encoding="utf-8")
    every = texts()
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "configs.json").write_text(json.dumps(every), encoding="utf-8")
    shutil.copyfile(Path(__file__).with_name("config_runner.mjs"), folder / "run.js")
    subprocess.run([node_path(), "run.js"], cwd=folder, check=True, timeout=60)
    return list(zip(every, json.loads((folder / "answers.json").read_text("utf-8")), strict=True))


FURTHER = "layers that predict further tokens are not counted"
"""What the page notes of a file, and an answer of each model that has them."""


# --- invariant
def test_both_read_the_same_and_refuse_the_same(answers: list[tuple[str, Any]]) -> None:
    device, kinds, sentences = accelerator("h100"), set(), set()
    for text, page in answers:
        try:
            shape = shape_reading(json.loads(text), text, "config.json").model
        except ConfigError as error:
            said = str(error)
            assert "refused" in page, (text, said)
            # Which names are known is a long list there, and a way out here.
            if "is not known here; known:" not in said:
                assert page["refused"] == said.replace(INSTEAD, INSTEAD_ON_PAGE), text
            sentences.add(said.split(" ")[1])
            continue
        assert "refused" not in page, (text, page)
        assert shape is not None
        left_out = [one.why for one in shape.remarks if one.what == CONFIG]
        assert [one for one in page["notes"] if one != FURTHER] == left_out, text
        record = job(shape, device, Layout(), Batch(global_batch_size=1, seq_length=1))
        assert page["shape"] == {name: getattr(record, name) for name in FIELDS}, text
        kinds.add(page["kind"])
    assert kinds == set(FAMILIES)
    assert len(sentences) > 20
