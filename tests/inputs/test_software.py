"""What is said of the software, and the facts that follow: from data, never from a name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steptime import ConfigError, predict
from steptime.evidence.row_question import roofline_question
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.ability import starts_on
from steptime.inputs.fact import Value
from steptime.inputs.precision import precision_named
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import Software, software, with_facts
from steptime.inputs.stack import FACT_NAMES, Stack, families, family_stack, months, stacks


def home_of(stack: Stack) -> str:
    """Return a device on which a stack starts."""
    devices = ("h100", "trainium2", "ascend-910b")
    return next(one for one in devices if starts_on(stack.family, accelerator(one).generation))


def of(
    name: str = "llama3-8b",
    device: str = "h100",
    precision: str = "bf16",
    *,
    sharded: bool = False,
    facts: dict[str, Value] | None = None,
    **said: Any,
) -> Software:
    told = Said(facts=tuple((facts or {}).items()), **said)
    return software(told, accelerator(device), model(name), precision, sharded)


# published: which software was current when


@pytest.mark.parametrize(
    ("family", "date", "name"),
    [
        ("megatron", None, "megatron-core"),
        ("megatron", "2024-06", "megatron-core"),
        ("megatron", "2023-05", "megatron-2023"),
        ("megatron", "2022-10", "megatron-2022"),
        ("megatron", "2022-04", "megatron-2021"),
        # Older than all of them: the oldest.
        ("megatron", "2019-01", "megatron-2021"),
        # Two of one month: the plain one.
        ("nemo", "2026-01", "megatron-bridge"),
        # A stack of one source's runs is nobody else's.
        ("torchtitan", "2026-01", "torchtitan-2024"),
    ],
)
def test_a_family_and_a_date_mean_the_software_current_then(
    family: str, date: str | None, name: str
) -> None:
    assert family_stack(family, date).name == name
    one = of(stack=family, date=date)
    assert (one.stack.name, one.known) == (name, False)
    # Without a date the device's own is taken, and said.
    assert [told.what for told in one.assumed] == (["stack"] if date else ["stack", "date"])


def test_an_exact_name_is_known_and_nothing_is_assumed() -> None:
    one = of(stack="megatron-2021")
    assert (one.stack.name, one.known, one.assumed) == ("megatron-2021", True, ())


@pytest.mark.parametrize("name", [one.name for one in stacks().values() if one.of])
def test_software_of_one_source_s_runs_is_as_old_as_they_are(name: str) -> None:
    # Today's would not wait for its host, which the framework of 2024-12 does (deepep2025: an
    # implicit wait of the CPU for the counts that arrive).
    since = stacks()[name].since
    one, then = (of("mixtral-8x7b", stack=name, date=date) for date in (None, since))
    assert one.lines == then.lines
    assert [(told.what, told.value) for told in one.assumed] == [("date", since)]
    assert of(stack=name, date=since).assumed == ()


def test_an_exact_stack_that_is_still_current_is_today_s() -> None:
    (told,) = of("mixtral-8x7b", stack="megatron-core").assumed
    assert (told.what, told.value) == ("date", "today's software")


def test_what_is_usual_depends_on_sharing_alone() -> None:
    assert of().stack.name == "usual"
    assert of(sharded=True).stack.name == "usual-sharded"
    assert of(sharded=True, stack="megatron-core").stack.name == "megatron-core"


# invariant


def test_a_date_decides_what_changed_since() -> None:
    mixture = "mixtral-8x7b"
    seen = {}
    for date in ("2025-01", "2025-03", "2026-07", None):
        time = of(mixture, stack="megatron-core", date=date).time
        assert time is not None
        seen[date] = (time.old_experts, time.plain_exchange)
    assert seen == {
        "2025-01": (1.0, 1.0),
        "2025-03": (1.0, 0.0),
        "2026-07": (0.0, 0.0),
        None: (0.0, 0.0),
    }
    dense = of(stack="megatron-core", date="2025-01").time
    assert dense is not None
    assert (dense.old_experts, dense.plain_exchange) == (0.0, 0.0)
    assert [one.what for one in of(mixture, stack="megatron-core").assumed] == ["date"]


def test_what_is_stated_comes_before_all_else() -> None:
    one = of("gpt-oss-20b", stack="megatron-core", facts={"plain_exchange": 0.0, "overlap_dp": 0})
    assert one.time is not None
    assert (one.time.plain_exchange, one.time.eager_experts, one.time.overlap_dp) == (0, 1, 0)
    assert one.lines["overlap_dp"].kind == "stated"
    changed = with_facts(one, {"overlap_dp": 1.0, "logit_bytes": 4.0})
    assert changed.time == replace(one.time, overlap_dp=1.0)
    assert changed.memory == replace(one.memory, logit_bytes=4.0)


def test_a_kernel_sets_its_rate_and_whether_scores_are_stored() -> None:
    rates = {}
    for kernel in ("cudnn", "flash-2", "stored"):
        one = of(facts={"kernel": kernel})
        assert one.time is not None
        assert one.time.flash == one.memory.flash == float(kernel != "stored")
        rates[kernel] = one.time.attention_flop_per_s
    assert rates["cudnn"] > rates["flash-2"]


def test_a_precision_and_a_generation_limit_lines_of_facts() -> None:
    for device, precision, fp4, scaled in (
        ("b200", "bf16", 0.0, 0.0),
        ("b200", "mxfp8", 0.0, 0.08),
        ("b200", "nvfp4", 1.0, 0.0),
    ):
        time = of(device=device, precision=precision).time
        assert time is not None
        assert (time.fp4, time.scaled_products) == (fp4, scaled)
    sent = []
    for device in ("a100", "h100"):
        time = of(device=device, stack="llm-foundry-2024").time
        assert time is not None
        sent.append(time.sent_gradient_bytes)
    assert sent == [2.0, 4.0]


@pytest.mark.parametrize("name", ["mixtral-8x7b", "gpt-oss-20b", "llama3-405b", "deepseek-v3"])
def test_a_name_changes_nothing(name: str) -> None:
    sizes = {"seq_length": 4096, "global_batch_size": 128, "dp": 64, "tp": 8}
    for told in ("gloss-moe", "Llama 3 405B", "anything"):
        found = [
            predict(model=shape, accelerator=device, **sizes)
            for shape, device in (
                (model(name), accelerator("gb300")),
                (replace(model(name), name=told), replace(accelerator("gb300"), name="gb2000")),
            )
        ]
        assert found[0].step_time_s == found[1].step_time_s
        assert found[0].total_bytes == found[1].total_bytes
        assert found[0].step.layout == found[1].step.layout


def test_every_stack_answers_on_every_fact_it_names() -> None:
    assert len(stacks()) >= 14
    for name, stack in stacks().items():
        assert {fact.name for fact in stack.facts} <= set(FACT_NAMES)
        assert stack.family in families()
        one = of(device=home_of(stack), stack=name)
        assert one.time is not None
        assert one.stack is stack


# refusal


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"stack": "megatron-cor"}, "unknown stack 'megatron-cor'; did you mean 'megatron-core'"),
        ({"stack": ""}, "unknown stack ''; one of: "),
        ({"date": "2025"}, "date must be a month such as 2025-02, got '2025'"),
        ({"date": "2025-00"}, "date must be a month"),
        ({"facts": {"overlap": 1.0}}, "unknown fact 'overlap'; did you mean 'overlap_"),
        ({"facts": {"overlap_dp": -1.0}}, "fact overlap_dp must be a number >= 0"),
        ({"facts": {"power_scale": 0.0}}, "fact power_scale must be a number > 0"),
        ({"facts": {"kernel": "flash-9"}}, "unknown attention kernel 'flash-9'"),
        ({"facts": {"kernel": 2.0}}, "fact kernel must be a word"),
        ({"facts": {"dropout": "on"}}, "fact dropout must be a number, got 'on'"),
    ],
)
def test_what_is_not_known_names_the_way_out(said: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        of(**said)


@pytest.mark.parametrize(
    ("precision", "said", "message"),
    [
        ("fp8", {"stack": "megatron-2021"}, r"megatron-2021\) has no products of 8 bits .*2022-09"),
        ("fp8", {"stack": "megatron", "date": "2022-10"}, r"megatron-2022\) has no products"),
        ("fp8", {"date": "2021-05"}, "'fp8' came in 2022-09, after date '2021-05'; use bf16"),
        ("mxfp8", {"stack": "nemo", "date": "2023-10"}, "'mxfp8' came in 2024-03, after date"),
        ("fp8", {"stack": "vtrain"}, r"'fp8' came in 2022-09, after .*\(vtrain, .*2022-06\)"),
        ("mxfp8", {"stack": "megatron-2023"}, r"'mxfp8' came in 2024-03, after .*2023-01\)"),
        ("nvfp4", {"stack": "megatron-2023"}, r"'nvfp4' came in 2024-03, after .*megatron-2023"),
    ],
)
def test_software_older_than_a_format_is_refused(
    precision: str, said: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        of(device="b200", precision=precision, **said)
    assert of(device="b200", **said).known is ("date" not in said)


def test_software_has_a_format_that_came_while_it_was_current() -> None:
    # NeMo's next came half a year after 8 bits, FSDP2 half a year after blocks; the newest of a
    # family is today's; and a later date says that an older one still runs.
    for name, precision in (
        *(("nemo-2022", "fp8"), ("megatron-2023", "fp8"), ("torch-fsdp", "mxfp8")),
        *(("deepspeed-2023", "nvfp4"), ("megatron-core", "nvfp4")),
    ):
        assert of(device="b200", stack=name, precision=precision).stack.name == name
    later = of(device="b200", stack="megatron-2023", date="2024-03", precision="nvfp4")
    assert later.stack.name == "megatron-2023"


def test_a_date_before_an_exact_stack_is_refused_by_name() -> None:
    for stack in stacks().values():
        if Said(stack=stack.name).nobodys or stack.since <= months()[0]:
            continue
        with pytest.raises(
            ConfigError, match=rf"{stack.name}\), which .* since {stack.since}; use"
        ):
            of(device=home_of(stack), stack=stack.name, date=months()[0])
        assert of(device=home_of(stack), stack=stack.name, date=stack.since).stack is stack


def test_no_published_run_is_older_than_its_exact_software() -> None:
    asked, reasons = 0, []
    for row in published_rows():
        try:
            asked += roofline_question(run_of(row)).software.known
        except Incomplete as reason:
            reasons.append(str(reason))
    assert asked > 100
    assert not [one for one in reasons if "has been current since" in one or "came in" in one]


def test_the_oldest_known_of_a_family_is_not_told_to_be_current_before_it_was() -> None:
    for family, name in (("torchtitan", "torchtitan-2024"), ("maxtext", "maxtext-2023")):
        told = {one.what: str(one) for one in of(device="v100", stack=family).assumed}
        assert f"the oldest known of {family}" in told["stack"]
        assert name in told["stack"]
        assert "current in" not in told["stack"]
    told = {one.what: str(one) for one in of(stack="megatron", date="2023-06").assumed}
    assert "current in 2023-06 of megatron" in told["stack"]


def test_software_that_has_no_eight_bits_is_older_than_they_are() -> None:
    lacking = [stack for stack in stacks().values() if stack.no_eight_bits]
    assert len(lacking) > 5
    assert all(stack.since < precision_named("fp8").since for stack in lacking)


@pytest.mark.parametrize("name", ["usual", "usual-sharded"])
def test_naming_what_is_assumed_makes_nothing_known(name: str) -> None:
    assert (Said(stack=name).knowledge, Said(stack=name).exact) == ("nothing", False)
    asked = {"model": "llama3-8b", "accelerator": "h100", "dp": 8, "seq_length": 4096}
    for zero_stage in (None, 1, 3):
        open_question = {**asked, "global_batch_size": 64, "zero_stage": zero_stage}
        named, plain = predict(**open_question, stack=name), predict(**open_question)
        assert named.assumed == plain.assumed
        assert named.step_time_s == plain.step_time_s
        assert named.unstated == plain.unstated


def test_no_more_than_all_of_a_message_overlaps() -> None:
    asked = {"model": "llama3-8b", "accelerator": "h100", "dp": 8, "seq_length": 4096}
    with pytest.raises(ConfigError, match="fact overlap_dp must be a number >= 0 and <= 1, got 2"):
        predict(**asked, global_batch_size=64, facts={"overlap_dp": 2.0})
