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


def small_script(code: str) -> str:
    """Return a plain script that does the same in fewer bytes.

    Args:
        code: A declaration that takes a value apart starts its line; names at the top are kept.
    """
    if minify is None:
        return code
    return str(minify.string("application/javascript", _APART.sub(r"\1 0;\2", code)))


def small_style(code: str) -> str:
    """Return a style sheet that does the same in fewer bytes; notices of licences stay.

    Args:
        code: CSS.
    """
    return code if minify is None else str(minify.string("text/css", code))
