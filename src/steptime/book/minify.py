"""Scripts and style sheets in fewer bytes, by tdewolff's minifiers: what they do stays the same.

They work nothing out: a sum of two numbers stays one, in its order, so that every number is the
same to the last bit. Where no build of the package exists, a text is sent as it was written.
"""

from __future__ import annotations

import re

try:
    import minify
except ImportError:  # no build for this system
    minify = None


# What takes an object or a list apart may be put first in its row, before what it reads: a
# statement that does nothing keeps it where it is. Modules of the bundle stand first already.
_APART = re.compile(r"^( *)((?:const|let) [\[{](?!.*= \$[mn]\d+;$))", re.MULTILINE)

# Once it has stayed in its place, the statement goes.
_KEPT = re.compile(r"([{},;])0;(?=(?:const|let)[\[{])")

# It leaves what it does not know as it is: rules for the width of a figure.
_CONTAINER = re.compile(r"(@container[^{]*)\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}")


def small_script(code: str) -> str:
    """Return a plain script that does the same in fewer bytes.

    Args:
        code: A declaration that takes a value apart starts its line; names at the top are kept.
    """
    if minify is None:
        return code
    small = str(minify.string("application/javascript", _APART.sub(r"\1 0;\2", code)))
    return _KEPT.sub(lambda match: match[1].replace(",", ";"), small)


def small_style(code: str) -> str:
    """Return a style sheet that does the same in fewer bytes; notices of licences stay.

    Args:
        code: CSS, in which such rules stand in no others.
    """
    if minify is None:
        return code
    made = ""
    for place, part in enumerate(_CONTAINER.split(code)):
        small = "".join(part.split("\n")).strip() if place % 3 == 1 else _smaller_style(part)
        made += f"{small}{{" if place % 3 == 1 else f"{small}}}" if place % 3 == 2 else small
    return made


def _smaller_style(code: str) -> str:
    return str(minify.string("text/css", code))
