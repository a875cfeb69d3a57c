"""Import time of the core, and one baseline prediction beside llm-analysis's, on one core.

llm-analysis 0.2.2 goes into a venv of its own, ``build/bench-venv``: its dependencies are
old and have no place in the lock.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import timeit
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RIVAL_VENV = ROOT / "build" / "bench-venv"
RIVAL = "llm-analysis==0.2.2"
AIM_IMPORT_S = 0.1
AIM_PREDICTION_S = 50e-6
AIM_PREDICT, AIM_COMMAND = 1.3, 2.0
"""Times: `predict` beside its formulas, a command beside the same answer in Python."""
ROUNDS = 3000
"""Short rounds in turn: the fastest of so many is the same from one run to the next."""
ASKED = {
    "model": "gpt3-175b",
    "accelerator": "a100-80gb",
    "seq_length": 2048,
    "global_batch_size": 1536,
    "tp": 8,
    "pp": 8,
    "dp": 16,
    "recompute": "full",
}
CORE = (
    "import steptime\n"
    "import steptime.formulas.baseline, steptime.inputs.training_step\n"
    "steptime.predict, steptime.training_step, steptime.Layout\n"
)


def process_s(code: str, repeats: int = 15) -> float:
    """Return the fastest of some runs of ``python -c``, compiled before as an installed package."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    kept["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "bench-bytecode")
    call = [sys.executable, "-c", code]
    times = timeit.repeat(
        lambda: subprocess.run(call, check=True, env=kept), number=1, repeat=repeats
    )
    return min(times)


def fastest_s(call: object, number: int = 2000) -> float:
    """Return seconds of one call, the fastest of nine rounds."""
    return min(timeit.repeat(call, number=number, repeat=9)) / number  # type: ignore[call-overload]


def fastest_in_turn_s(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return seconds of one call each, the fastest of many short rounds in turn.

    What else a machine does then slows all of them alike, or none.
    """
    found = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            found[name] = min(found[name], timeit.timeit(call, number=2) / 2)
    return found


def predictions_s() -> dict[str, float]:
    """Return seconds of one prediction: the formulas alone, and from names to an answer."""
    import steptime
    from steptime.answer import answer
    from steptime.formulas.baseline import baseline_step
    from steptime.inputs.baseline_constants import baseline_constants

    step = steptime.training_step(**ASKED)
    record, constants = step.job(), baseline_constants()
    question = steptime.Question(step=step, predictor="baseline")
    return {
        "baseline, formulas": fastest_s(lambda: baseline_step(record, constants)),
        "baseline, from a checked step to an answer": fastest_s(
            lambda: answer(question), number=500
        ),
        "baseline, from names to an answer": fastest_s(
            lambda: steptime.predict(**ASKED, predictor="baseline"), number=50
        ),
    }


def door_s() -> dict[str, float]:
    """Return seconds of all the formulas of an answer, of `predict`, and of all that it says."""
    import steptime
    from steptime.formulas.judgement import fit_verdict, interval_s
    from steptime.formulas.memory import memory_total_bytes
    from steptime.formulas.outcome import outcome

    question = steptime.Question(step=steptime.training_step(**ASKED))
    record, known = question.step.job(), question.known()
    one = known.software_of(record)

    def formulas() -> None:
        parts = known.parts(record, one)
        time_s = known.predictor.total(parts)
        slowest_s = known.slowest_s(record, one, time_s)
        interval_s(record, one.time, known.width, parts, time_s, slowest_s)
        total_bytes = memory_total_bytes(record, one.memory)
        fit_verdict(total_bytes, record.hbm_bytes)
        known.chance(total_bytes, record.hbm_bytes)
        outcome(record, time_s, 1.0)

    def everything() -> None:
        found = steptime.predict(**ASKED)
        for name in ("step_time_low_s", "mfu_fraction", "fits", "fit_probability", "assumed"):
            getattr(found, name)

    return fastest_in_turn_s(
        {
            "roofline, all formulas of an answer": formulas,
            "roofline, from names to an answer": lambda: steptime.predict(**ASKED),
            "roofline, and all that it says": everything,
        }
    )


def command_s() -> tuple[float, float]:
    """Return seconds of one answer by Python in a process of its own, and by the command."""
    words = "-m gpt3-175b -a a100-80gb -s 2048 -B 1536 --tp 8 --pp 8 --dp 16 --recompute full"
    python = process_s(f"import steptime; steptime.predict(**{ASKED!r}).memory")
    call = f"import sys; sys.argv[1:] = {['predict', *words.split()]!r}\n"
    quiet = "import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\n"
    return python, process_s(f"{call}{quiet}from steptime.cli import main; main()")


def rival_s() -> dict[str, float] | None:
    """Return seconds of one prediction by llm-analysis; None if it cannot be had."""
    python = RIVAL_VENV / "bin" / "python"
    if not python.is_file():
        print(f"installing {RIVAL} into build/bench-venv", flush=True)
        uv = Path(sys.executable).parent / "uv"
        installs = [
            [sys.executable, "-m", "venv", str(RIVAL_VENV)],
            [str(uv), "pip", "install", "-q", "--python", str(python), RIVAL, "setuptools<81"],
        ]
        for words in installs:
            if subprocess.run(words, check=False).returncode:
                return None
    done = subprocess.run(
        [str(python), str(ROOT / "bench" / "rival.py")], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print the table."""
    empty, core = process_s("pass"), process_s(CORE)
    print(f"python -c pass                 {empty * 1e3:8.1f} ms")
    print(
        f"python -c 'import steptime'    {core * 1e3:8.1f} ms: {(core - empty) * 1e3:.1f} ms more"
        f" (aim {AIM_IMPORT_S * 1e3:.0f}), {core / empty:.1f} times an empty process"
    )
    by_python, by_command = command_s()
    print(
        f"the same answer, by Python       {by_python * 1e3:6.1f} ms\n"
        f"the same answer, by the command  {by_command * 1e3:6.1f} ms: "
        f"{by_command / by_python:.2f} times (aim {AIM_COMMAND:g})"
    )
    door = door_s()
    formulas = next(iter(door.values()))
    for name, seconds in door.items():
        print(f"{name:43} {seconds * 1e6:8.1f} µs, {seconds / formulas:.2f} times")
    print(f"  aim for names to an answer, and for all that it says: {AIM_PREDICT:g} times")
    ours = predictions_s()
    rival = rival_s()
    for name, seconds in ours.items():
        ratio = f", {seconds / rival['prediction_s']:.2f} of {RIVAL}'s time" if rival else ""
        print(f"{name:43} {seconds * 1e6:8.1f} µs{ratio}")
    print(f"  aim for the baseline: {AIM_PREDICTION_S * 1e6:.0f} µs")
    if rival:
        print(f"{RIVAL + ', silenced':43} {rival['prediction_s'] * 1e6:8.1f} µs")
        print(f"{RIVAL + ', logging as it comes':43} {rival['logged_s'] * 1e6:8.1f} µs")
    else:
        print(f"{RIVAL} could not be installed or run here")


if __name__ == "__main__":
    main()
