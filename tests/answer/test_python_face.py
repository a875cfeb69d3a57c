"""What a user calls from Python: signatures, answers that show themselves, examples that run."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import steptime
from steptime.cli.main import run
from steptime.inputs.fields import FIELDS
from steptime.inputs.shown import Shown
from steptime.inputs.training_step import training_step

STEP = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 8192, "global_batch_size": 64}
QUESTIONS: dict[str, Callable[[], Shown]] = {
    "predict": lambda: steptime.predict(**STEP, num_gpus=16, tp=2, pp=2),
    "memory": lambda: steptime.memory(**STEP, num_gpus=16, tp=2, pp=2),
    "search": lambda: steptime.search(**STEP, num_gpus=16, tp=2, cp=1),
    "simulate": lambda: steptime.simulate("zb-h1", stages=4, micro_batches=8),
    "place": lambda: steptime.place(tp=8, pp=4, ep=8, num_gpus=256, accelerator="gb200"),
    "validate": lambda: steptime.validate(predictor="chapter"),
}
OWN = {"predictor", "constants"}


@pytest.fixture(scope="module")
def answers() -> dict[str, Shown]:
    return {name: ask() for name, ask in QUESTIONS.items()}


# Signatures


@pytest.mark.parametrize("name", ["predict", "memory"])
def test_a_step_is_asked_with_the_parameters_of_a_training_step(name: str) -> None:
    signature = inspect.signature(getattr(steptime, name))
    asked = inspect.signature(training_step).parameters
    assert [one for one in signature.parameters if one not in OWN] == list(asked)
    for one, parameter in asked.items():
        assert signature.parameters[one].default == parameter.default, one
        assert signature.parameters[one].annotation == parameter.annotation, one
    assert [field.name for field in FIELDS] == list(asked)


def test_a_search_is_asked_with_the_same_names() -> None:
    asked = inspect.signature(steptime.search).parameters
    emitted = {"emit", "emit_to", "choice", "tokens"}
    of_search = {"memory_share", "fits_with", *emitted}
    assert set(asked) == {field.name for field in FIELDS} | OWN | of_search
    several = {name for name, one in asked.items() if "Iterable" in str(one.annotation)}
    assert several == {field.name for field in FIELDS if field.tried}


@pytest.mark.parametrize("name", [*QUESTIONS, "explain"])
def test_every_parameter_has_a_type_and_is_explained(name: str) -> None:
    function = getattr(steptime, name)
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter
        assert re.search(rf"^ +{parameter.name}: \S", function.__doc__, re.MULTILINE), parameter
    assert "**" not in function.__doc__
    assert signature.return_annotation not in (signature.empty, "Any")


@pytest.mark.parametrize("name", [*QUESTIONS, "explain"])
def test_a_name_that_is_not_known_is_refused_with_the_nearest(name: str) -> None:
    function = getattr(steptime, name)
    known = list(inspect.signature(function).parameters)[-1]
    with pytest.raises(steptime.ConfigError, match=f"did you mean '{known}'"):
        function(**{known + "x": 1})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(steptime.ConfigError, match="predict needs accelerator"):
        steptime.predict(model="llama3-8b")  # type: ignore[call-arg]


# Answers


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_survives_json_and_pickle(name: str, answers: dict[str, Shown]) -> None:
    found = answers[name]
    text = found.to_json()
    json.loads(text, parse_constant=pytest.fail)
    assert type(found).from_json(text) == found
    assert type(found).from_json(text).records() == found.records()
    assert pickle.loads(pickle.dumps(found)) == found


def test_an_explanation_survives_too(tmp_path: Any) -> None:
    script = tmp_path / "launch.sh"
    script.write_text(
        "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 4 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
        "--micro-batch-size 1 --global-batch-size 64 --bf16 --vocab-size 50257\n"
    )
    found = steptime.explain(script, accelerator="h100")
    assert steptime.Explanation.from_json(found.to_json()) == found
    assert found.records() == found.own.records()


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_a_table_a_frame_and_a_figure(name: str, answers: dict[str, Shown]) -> None:
    pytest.importorskip("pandas")
    found = answers[name]
    rows = found.records()
    html = found._repr_html_()
    assert html.count("<tr>") == len(rows) + 1
    assert found.to_frame().shape == (len(rows), len(rows[0]))
    pyplot: Any = pytest.importorskip("matplotlib.pyplot")
    axes = found.plot()
    assert axes.get_xlabel()
    assert axes.has_data()
    pyplot.close("all")


def test_json_of_another_kind_or_with_another_record_is_refused(answers: dict[str, Any]) -> None:
    with pytest.raises(steptime.ConfigError, match="holds a Memory, no Prediction"):
        steptime.Prediction.from_json(answers["memory"].to_json())
    for name in ("os:system", "steptime.cli.main:run", "steptime.nothing:Here"):
        with pytest.raises(steptime.ConfigError, match="is no record of steptime"):
            steptime.Prediction.from_json(json.dumps({"$record": name}))
    for table in ("os:environ", "steptime.answer.predictor:PREDICTORS"):
        with pytest.raises(steptime.ConfigError, match="is no entry of"):
            steptime.Prediction.from_json(json.dumps({"$entry": table, "name": "HOME"}))
    with pytest.raises(steptime.ConfigError, match="another version of steptime"):
        steptime.Prediction.from_json(
            json.dumps({"$record": "steptime.inputs.layout:Batch", "no_such_field": 1})
        )
    with pytest.raises(steptime.ConfigError, match="no JSON"):
        steptime.Prediction.from_json("{")


def test_parts_of_a_prediction_add_up(answers: dict[str, Any]) -> None:
    rows = answers["predict"].records()
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)


# Devices in place of the data-parallel size


def test_devices_give_the_data_parallel_size() -> None:
    given = steptime.predict(**STEP, tp=2, pp=2, dp=4)
    assert steptime.predict(**STEP, tp=2, pp=2, num_gpus=16) == given
    assert steptime.predict(**STEP, tp=2, pp=2, num_gpus=16, dp=4) == given


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"tp": 3, "num_gpus": 16}, "does not divide by tp x cp x pp = 3; .* is 15"),
        ({"tp": 2, "dp": 4, "num_gpus": 16}, "but tp x cp x pp x dp = 8; leave out dp"),
        ({"num_gpus": 0}, "num_gpus must be >= 1"),
    ],
)
def test_devices_that_do_not_fit_are_refused(sizes: dict[str, int], told: str) -> None:
    with pytest.raises(steptime.ConfigError, match=told):
        steptime.predict(**STEP, **sizes)  # type: ignore[arg-type]


def test_a_precision_may_be_written_in_its_usual_ways() -> None:
    for word in ("bfloat16", "BF16", "bf16-mixed", "bf16_mixed"):
        assert steptime.predict(**STEP, precision=word).step.layout.precision == "bf16"
    assert steptime.predict(**STEP, precision="float8").step.layout.precision == "fp8"
    with pytest.raises(steptime.ConfigError, match="unknown precision 'fp32'"):
        steptime.predict(**STEP, precision="fp32")


# Examples in docstrings


FUNCTIONS = ("predict", "memory", "search", "simulate", "place", "explain", "validate")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_docstring_runs(name: str) -> None:
    function = getattr(steptime, name)
    found = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert sum(len(one.examples) for one in found) > 1
    runner = doctest.DocTestRunner(verbose=False)
    for one in found:
        runner.run(one)
    assert runner.summarize(verbose=False).failed == 0


# What is not installed


def without(module: str, code: str) -> str:
    """Return what code prints where a module is missing."""
    gate = (
        "import sys\n"
        "class Gate:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] == {module!r}:\n"
        "            raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Gate())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", gate + code], capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "code", "told"),
    [
        ("numpy", "steptime.search", "steptime.search needs numpy: pip install 'steptime[search]'"),
        ("pandas", "steptime.simulate().to_frame()", "to_frame needs pandas: pip install"),
        ("matplotlib", "steptime.simulate().plot()", "plot needs matplotlib: pip install"),
    ],
)
def test_a_missing_package_is_named_with_its_group(module: str, code: str, told: str) -> None:
    assert told in without(module, f"import steptime; {code}").splitlines()[-1]


def test_what_needs_no_package_runs_without() -> None:
    code = "import steptime; print(steptime.place(tp=8, num_gpus=64, domain_size=8).num_domains)"
    assert without("numpy", code) == "8\n"


def test_importing_costs_next_to_nothing() -> None:
    code = "import sys, steptime; print(sum(name.startswith('steptime') for name in sys.modules))"
    assert without("nothing", code) == "1\n"


@pytest.mark.parametrize("measured", ["150", 150.0, "9.5s"])
def test_a_measured_run_is_put_beside_the_answer_as_the_command_does(
    measured: str | float, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = tmp_path / "train.toml"
    launch.write_text(
        '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 8192\n'
        "local_batch_size = 1\n"
    )
    plain = steptime.explain(launch, accelerator="h100", num_gpus=8)
    found = steptime.explain(launch, accelerator="h100", num_gpus=8, measured=measured)
    words = ["explain", str(launch), "-a", "h100", "--gpus", "8", "--json"]
    assert run([*words, "--measured", str(measured)]) == 0
    said = json.loads(capsys.readouterr().out)["measured"]
    assert plain.beside is None
    assert found.beside is not None
    assert steptime.Explanation.from_json(found.to_json()) == found
    assert found.beside.measured.step_time_s == said["measured_step_time_s"]
    assert [one.name for one in found.beside.causes] == [one["name"] for one in said["causes"]]
    with pytest.raises(steptime.ConfigError, match=r"^measured 'fast' is not understood"):
        steptime.explain(launch, accelerator="h100", num_gpus=8, measured="fast")
