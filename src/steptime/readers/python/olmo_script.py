"""Scripts of OLMo-core: functions that build a model and its training, and a call of main."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from steptime.readers.python.records import Record
from steptime.readers.python.values import Scope

WHOLE = "build_config"
"""The function that builds everything, of scripts that others start."""
_BUILDERS = {
    "model_config_builder": "model",
    "train_module_config_builder": "train_module",
}
_BATCH = {
    "global_batch_size": "data_loader.global_batch_size",
    "sequence_length": "dataset.sequence_length",
    "max_sequence_length": "dataset.sequence_length",
}


def experiment(scope: Scope) -> Any:
    """Return the record of what a script trains; None if it is no such script.

    Args:
        scope: Of its module.
    """
    if WHOLE in scope.module.functions:
        return scope.returned(WHOLE)
    for call in _calls(scope.module.blocks):
        given = {word.arg: word.value for word in call.keywords if word.arg}
        if given.keys() >= _BUILDERS.keys():
            return _put_together(scope, given, call.lineno)
    return None


def _calls(blocks: list[ast.stmt]) -> Iterator[ast.Call]:
    for block in blocks:
        for node in ast.walk(block):
            if isinstance(node, ast.Call):
                yield node


def _put_together(scope: Scope, given: dict[str, ast.expr], line: int) -> Record:
    """Return what `main` builds of its arguments, under the names of the whole configuration."""
    made = Record(kind="ExperimentConfig")
    common = Record(kind="CommonComponents")
    for name, path in _BATCH.items():
        if name in given:
            section, _, key = path.partition(".")
            value = scope.value(given[name])
            inner = made.fields.setdefault(section, (Record(kind=section), line))[0]
            inner.fields[key] = (value, given[name].lineno)
            common.fields[name] = (value, line)
            if key == "sequence_length":
                common.fields["max_sequence_length"] = (value, line)
                # What its data set says of itself is what it is given.
                data = Record(kind="DatasetConfig")
                data.fields["effective_sequence_length"] = (value, line)
                common.fields["dataset"] = (data, line)
    for name, section in _BUILDERS.items():
        callee = scope.callee(given[name])
        if callee is not None and callee[1] in callee[0].functions:
            module, function = callee
            wanted = module.functions[function].args.args
            bound = {wanted[0].arg: common} if wanted else {}
            made.fields[section] = (scope.inside(module).returned(function, bound), line)
    return made
