"""Write the command-line reference from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each command that does something, with its full name."""
    children = getattr(command, "commands", None)
    if not children:
        yield path, command
        return
    for name in sorted(children):
        if not children[name].hidden:
            yield from _walk(children[name], f"{path} {name}")


def _clean(text: str | None) -> str:
    """Return help text without the command line's own markup."""
    text = re.sub(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red|b|i)\]", "", text or "")
    return text.replace("\b", "").replace("\f", "").strip()


_CODE = re.compile(r"`([^`]+)`|(?<![\w-])(--[\w-]*\w|--(?![\w-]))")


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it stands; options and what is quoted are code."""
    out = ""
    for place, part in enumerate(_CODE.split(text.replace("\n", " "))):
        if place % 3 == 0:
            out += re.sub(r"([$*_<\[\]{}|`])", r"\\\1", part)
        elif part:
            out += f"`{part}`"
    return out


def _described(text: str) -> str:
    """Return help text as Markdown: indented blocks and ``$`` lines become code."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        head = [lines[0]] if lines and re.match(r"(?i)examples?:\s*$", lines[0]) else []
        rest = lines[len(head) :]
        is_code = rest and all(re.match(r"\s{2,}\S|\s*(\$ )?steptime ", line) for line in rest)
        blocks.extend(head)
        if is_code:
            code = "\n".join(line.strip().removeprefix("$ ") for line in rest)
            blocks.append(f"```sh\n{code}\n```")
        elif rest:
            blocks.append(_escaped(" ".join(line.strip() for line in rest)))
    return "\n\n".join(blocks)


def _joined(text: str) -> str:
    """Return Markdown whose code spans run on one line each, as a page needs them."""
    return re.sub(r"`[^`]+`", lambda hit: re.sub(r"\s+", " ", hit[0]), _clean(text))


def _options(command: Any, context: Any) -> list[str]:
    """Return the table of what the command takes."""
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or "--help" in parameter.opts:
            continue
        if parameter.param_type_name == "argument":
            names = f"`{(parameter.metavar or parameter.name).upper()}`"
        else:
            every = [*parameter.opts, *parameter.secondary_opts]
            names = ", ".join(f"`{name}`" for name in every)
        about = _escaped(_clean(getattr(parameter, "help", "")))
        default = parameter.get_default(context, call=False)
        if parameter.required:
            about += " Required."
        elif default not in (None, False, "", (), []) and not callable(default):
            about += f" Default: `{default}`."
        rows.append(f"| {names} | {about.strip() or 'See above.'} |")
    return ["| takes | what it is |\n| --- | --- |\n" + "\n".join(rows)] if rows else []


def page(command: Any) -> str:
    """Return the whole page.

    Args:
        command: The click command of ``steptime``.
    """
    blocks = [
        "# Command line",
        "Made from the commands themselves; `steptime COMMAND --help` prints the same. Every",
        "command takes `--json`. Bad input ends with status 2 and one line that says why.",
    ]
    blocks = [blocks[0], "\n".join(blocks[1:])]
    for name, one in _walk(command, "steptime"):
        context = one.make_context(name, [], resilient_parsing=True)
        usage = re.sub(r"\s+", " ", one.get_usage(context).replace("Usage: ", "")).strip()
        blocks += [f"## `{name}`", f"```sh\n{usage}\n```", _described(_clean(one.help))]
        blocks += _options(one, context)
        # Examples stand there, already as Markdown.
        blocks.append(_joined(getattr(one, "epilog", "") or ""))
    return "\n\n".join(block for block in blocks if block) + "\n"
