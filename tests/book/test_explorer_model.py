"""The page's own JavaScript under Node against the package: records, numbers, refusals."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from page_node import bits, page_answers

from steptime.answer import Prediction, Question, answer
from steptime.book.explorer_data import DEVICE_FAULT
from steptime.book.explorer_state import asked_of
from steptime.formulas.memory import memory_bytes, rank_memory_bytes
from steptime.formulas.outcome import outcome
from steptime.formulas.roofline.modules import full_share
from steptime.formulas.validity import device_fault
from steptime.inputs.ability import check_starts
from steptime.inputs.errors import ConfigError
from steptime.inputs.in_number import counted
from steptime.inputs.job import JOB_FIELDS, Job
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.model import Experts, LatentAttention, ModelShape
from steptime.inputs.presets import accelerator, accelerator_names, model_names
from steptime.inputs.said import KNOWLEDGE, Said
from steptime.inputs.software import knows
from steptime.inputs.stack import families, stack_names
from steptime.inputs.training_step import TrainingStep, training_step
from steptime.pipeline.build import fixed_chunks

NUM_STATES = 10_000
SIZES = [1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 32, 3, 5, 64]
MANY = [name for name in SCHEDULES if not fixed_chunks(name)]
AGREE: dict[int, list[str]] = {
    chunks: [name for name in SCHEDULES if fixed_chunks(name) == chunks] for chunks in (1, 2)
}
AGREE = {1: AGREE[1], 2: [*MANY, *AGREE[2]], 3: MANY}
OWN = "40-5120-13824-40-8-64000-1-0-0-0-0-0"
OWN_EXPERTS = "30-4096-11008-32-8-100000-1-1-60-6-1408-2"
OWN_WHOLE = "32-4096-11008-32-32-100000-1-1-64-6-1408-2-128-0-512-16-3-8-4-1536-512-128-64-128"
"""All that a file of a model can say."""

NAMES = [*[""] * 800, *families(), *stack_names()]
FACTS = [
    "kernel=cudnn",
    "kernel=flash-triton,loss_bytes=8",
    "cp_comm_type=a2a",
    "cp_comm_type=all_gather,cp_gradient_bytes=4",
    "recompute_layers=2",
    "recompute_layers=40",
    "overlap_dp=0.5,gradient_bytes=2",
]
"""What may be stated of the software, each kind of it."""

UNTIMED = "no model tells the time of {precision} products on {gpu}; use bf16"
UNFIT = ("has two chunks", "has one chunk", "equal rounds", "an even pp", "needs 2 pp")


def random_states(count: int) -> list[dict[str, Any]]:
    """Return states as the page holds them, legal and illegal ones, all choices mixed."""
    draw = random.Random(20)
    models = [*model_names(), "own", "own"]
    states = []
    for _ in range(count):
        tp, pp, cp = (draw.choice(SIZES) for _ in range(3))
        copies = draw.choice([1, 2, 4, 8, 16, 64, 3])
        # Without stages there is one chunk: of others a few are asked all the same.
        vpp = draw.choice([1, 1, 2, 2, 3, 4] if pp > 1 else [1] * 19 + [2])
        mb = draw.choice([1, 1, 2, 4])
        model = draw.choice(models)
        states.append(
            {
                "model": model,
                "own": draw.choice([OWN, OWN_EXPERTS, OWN_WHOLE]) if model == "own" else "",
                "gpu": draw.choice(accelerator_names()),
                # One in twenty does not divide into t c p.
                "n": tp * pp * cp * copies + draw.choice([0] * 19 + [1]),
                "tp": tp,
                "pp": pp,
                "cp": cp,
                "vpp": vpp,
                "ep": draw.choice([1, 1, 1, 1, 1, 1, 2, 4, 8]),
                "etp": draw.choice([1] * 60 + [2]),
                "mb": mb,
                "batch": copies * mb * draw.choice([1, 2, 5, 8, 64]) + draw.choice([0] * 19 + [1]),
                "seq": draw.choice([512, 2048, 4096, 8192, 131072, 4096, 3000]),
                "zero": draw.randrange(4),
                "recompute": draw.choice(["none", "selective", "full"]),
                "precision": draw.choice(["bf16"] * 7 + ["fp8", "mxfp8", "nvfp4"]),
                "copies": draw.choice([1] * 9 + [2, 4]),
                "schedule": draw.choice(AGREE[min(vpp, 3)] if draw.randrange(20) else SCHEDULES),
                "sp": draw.randrange(2),
                "domain": draw.choice([0, 0, 8, 72, 36]),
                "tokens": draw.choice([300e9, 15.6e12]),
                "by": draw.choice(["baseline", "roofline"]),
                "stack": draw.choice(NAMES),
                "date": draw.choice([""] * 16 + ["2021-05", "2022-09", "2024-03", "2026-07"]),
                "facts": draw.choice([""] * 60 + FACTS),
            }
        )
    for place, state in enumerate(states):
        # Of software that does not start on its device one in four is asked.
        if place % 4 and not _starts(state["stack"], state["gpu"]):
            state["stack"] = ""
    return states


def _starts(stack: str, gpu: str) -> bool:
    try:
        check_starts(Said(stack=stack or None), accelerator(gpu))
    except ConfigError:
        return False
    return True


def own_shape(own: str) -> ModelShape:
    """Return the model that a reader typed in."""
    size = [int(one) for one in own.split("-")]
    usual = [size[1] // size[3], 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    size += usual[len(size) - 12 :]
    experts = Experts(
        num_experts=size[8] or 1,
        top_k=size[9] or 1,
        expert_ffn_hidden_size=size[10] or 1,
        num_shared_experts=size[11],
        num_dense_layers=size[16],
        num_groups=size[17],
        max_groups=size[18],
    )
    names = (*("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim"), "qk_rope_head_dim", "v_head_dim")
    latent = dict(zip(names, size[19:], strict=True)) if size[20] else None
    return ModelShape(
        name="your model",
        num_layers=size[0],
        hidden_size=size[1],
        ffn_hidden_size=size[2],
        num_attention_heads=size[3],
        num_query_groups=size[4],
        vocab_size=size[5],
        gated=bool(size[6]),
        tied=bool(size[7]),
        experts=experts if size[8] else None,
        head_dim=size[12],
        learned_positions=size[13],
        window_size=size[14],
        windowed_layers=size[15],
        latent_attention=LatentAttention(**latent) if latent else None,
    )


def python_step(state: dict[str, Any]) -> TrainingStep:
    """Return the same step by the package, or raise what it says against it."""
    tp, cp, pp = state["tp"], state["cp"], state["pp"]
    broken = device_fault(float(state["n"]), float(tp), float(cp), float(pp))
    if broken["broken"]:
        told = {"gpus": counted(state["n"], "GPUs"), "nearest": int(broken["nearest"])}
        raise ConfigError(DEVICE_FAULT.format(**state | told))
    return training_step(
        model=own_shape(state["own"]) if state["model"] == "own" else state["model"],
        accelerator=state["gpu"],
        nvlink_domain=state["domain"] or None,
        seq_length=state["seq"],
        global_batch_size=state["batch"],
        micro_batch_size=state["mb"],
        tp=tp,
        cp=cp,
        pp=pp,
        vpp=state["vpp"],
        dp=state["n"] // (tp * cp * pp),
        dp_replicate=state["copies"],
        ep=state["ep"],
        etp=state["etp"],
        sequence_parallel=bool(state["sp"]),
        zero_stage=state["zero"],
        recompute=state["recompute"],
        precision=state["precision"],
        schedule=state["schedule"],
        stack=state["stack"] or None,
        date=state["date"] or None,
        facts=asked_of(state)["facts"],
    )


def python_models(step: TrainingStep) -> dict[str, Prediction]:
    """Return the answer of each model that can tell the step, in the page's order."""
    names = ["roofline"] if knows(step.accelerator) else []
    names += [] if step.job().fp8 else ["baseline"]
    return {name: answer(Question(step=step, predictor=name)) for name in names}


def executed(found: Prediction) -> Job:
    """Return the record with the share of the layers that runs again."""
    facts, record = found.software.time, found.record
    again = record.recompute_full if facts is None else full_share(record, facts)
    return replace(record, recompute_full=float(again))


def python_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return what the runner returns, through the door."""
    step = python_step(state)
    models = python_models(step)
    chosen = models.get(state["by"]) or next(iter(models.values()))
    record, facts = chosen.record, chosen.software.memory
    fullest = memory_bytes(record, facts)
    assert fullest["total"] == chosen.total_bytes
    return {
        "job": {name: getattr(record, name) for name in JOB_FIELDS},
        "first": rank_memory_bytes(record, facts, 0.0),
        "last": rank_memory_bytes(record, facts, record.pp - 1.0),
        "fullest": fullest,
        **{name: one.breakdown_s for name, one in models.items()},
        "totals": {name: one.step_time_s for name, one in models.items()},
        "outcome": outcome(executed(chosen), chosen.step_time_s, state["tokens"]),
        "scalars": {
            "total": chosen.total_bytes,
            "quick": chosen.total_bytes,
            "limit": record.hbm_bytes,
            "seconds": chosen.step_time_s,
        },
    }


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, Any]]:
    """Give each state with what the page's modules make of it under Node."""
    states = random_states(NUM_STATES)
    answers = page_answers(states, tmp_path_factory.mktemp("explorer"))
    return list(zip(states, answers, strict=True))


@pytest.mark.slow
# --- invariant
def test_page_and_package_agree_to_the_last_bit(answered: list[tuple[Any, Any]]) -> None:
    compared = 0
    schedules = set()
    for state, page in answered:
        if "refused" in page:
            continue
        compared += 1
        schedules.add((state["schedule"], "dense" if state["ep"] == 1 else "experts"))
        ours = python_answer(state)
        for group, numbers in ours.items():
            expected = {key: bits(value) for key, value in numbers.items()}
            shown = page["models"][group] if group in page["models"] else page[group]
            assert shown == expected, (state, group)
        assert set(page["models"]) == set(ours["totals"])
    assert compared > NUM_STATES / 4
    assert len(schedules) == 2 * len(SCHEDULES)


def test_intervals_software_and_verdict_are_those_of_the_package(
    answered: list[tuple[Any, Any]],
) -> None:
    words = ("over", "tight", "fits")
    drawn = [(state, page) for state, page in answered if "bands" in page][:1000]
    seen, levels = set(), set()
    for state, page in drawn:
        models = python_models(python_step(state))
        for name, one in models.items():
            low, high = one.step_time_low_s, one.step_time_high_s
            expected = None if low is None or high is None else [bits(low), bits(high)]
            assert page["bands"][name] == expected, (state, name)
        one = next(iter(models.values()))
        assert page["software"] == one.software.stack.name, state
        assert page["verdict"] == words[one.verdict], state
        assert page["outlook"] == one.memory.outlook, state
        levels.add(one.software.knowledge)
        if not state["stack"]:
            seen.add((page["software"], page["verdict"]))
    assert len(seen) == 6
    assert levels == set(KNOWLEDGE)


# --- refusal
def test_page_refuses_what_the_package_refuses_with_the_same_sentence(
    answered: list[tuple[Any, Any]],
) -> None:
    sentences: set[str] = set()
    unfit: set[str] = set()
    for state, page in answered:
        try:
            known = python_models(python_step(state))
            said = None if known else UNTIMED.format(**state)
        except ConfigError as error:
            said = str(error)
        on_page = page["refused"]["text"] if "refused" in page else None
        assert on_page == said, state
        if said:
            assert page["quick"] == page["refused"]
            sentences.add(said.split("=")[0].split(" ")[0 if "GPUs" not in said else 1])
            unfit |= {words for words in UNFIT if words in said}
    # Every kind of refusal was among them, or the test shows too little.
    assert sentences >= {
        *("global_batch_size", "pp", "vpp", "tp", "cp", "ep", "etp", "dp_replicate", "GPUs"),
        *("precision", "zero_stage", "date", "fact"),
    }
    assert unfit == set(UNFIT)
