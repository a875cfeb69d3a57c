"""Recipes in Python that mean harm: each some words below what is read at all, or small."""

from __future__ import annotations

PYTHON = {
    "nested.py": b"x = " + b"(" * 24_000,
    "brackets.py": b"x = " + b"[" * 90 + b"]" * 90 + b"\n" + b"y = [[[[[[0]]]]]]\n" * 1_600,
    "sum.py": b"def f():\n    return " + b"1+" * 12_000 + b"1\n",
    "minus.py": b"def f():\n    return " + b"-" * 12_000 + b"1\n",
    "digits.py": b"x = " + b"9" * 120_000,
    "lines.py": b"a\n" * 24_000,
    "power.py": b"def f():\n    return R(training=R(max_context_length=10**10**10), a=9**9**9)\n",
    "texts.py": b"x = 'a' * 10**9\ny = x * 10**9\ndef f():\n    return R(a=x + y, b=f'{x}{y}')\n",
    "doubled.py": b"x0 = 'aaaaaaaaaa'\n"
    + b"".join(b"x%d = x%d + x%d\n" % (i + 1, i, i) for i in range(2_000))
    + b"def f():\n    return R(a=x2000)\n",
    "circle.py": b"from circle import f\nfrom .circle import g\nx = f()\ndef h():\n"
    b"    return g()\n",
    "itself.py": b"def f():\n    return f()\n" + b"def g():\n    return R(a=f(), b=g())\n",
    "fan.py": b"".join(
        b"def f%d():\n    c = R()\n" % n
        + b"".join(b"    c.a%d = f%d()\n" % (m, n + 1) for m in range(20))
        + b"    return c\n"
        for n in range(100)
    ),
    "lists.py": b"def f():\n    b0 = [1]\n"
    + b"".join(b"    b%d = [%s]\n" % (n + 1, b", ".join([b"b%d" % n] * 90)) for n in range(60))
    + b"    return R(training=R(max_context_length=b60))\n",
    "grown.py": b"def f():\n    r = R(a=[])\n" + b"    r.a.append(r)\n" * 2_500 + b"    return r\n",
    "copied.py": b"def f():\n    r = R(a=R())\n"
    + b"".join(b"    r = replace(r, a%d=r, b%d=r)\n" % (i, i) for i in range(900))
    + b"    return r\n",
    "held.py": b"def f():\n    r = R()\n    r.training = r\n    r.b = r\n    return r\n",
    "ifs.py": b"def f():\n"
    + b"".join(b" " * (i + 1) + b"if True:\n" for i in range(90))
    + b" " * 91 + b"pass\n" + b"    return R()\n",
    "loops.py": b"def f():\n    x = 1\n    while True:\n        x = x * 9\n"
    b"    for i in range(10**18):\n        x += i\n"
    b"    return R(training=R(max_context_length=x))\n",
    "functions.py": b"".join(b"def f%d():\n    return R(a=1)\n" % i for i in range(2_200)),
    "classes.py": b"class A0:\n    num_layers = 1\n"
    + b"".join(b"class A%d(A%d, A%d):\n    a = 1\n" % (i + 1, i, i) for i in range(900))
    + b"def f():\n    return R(model=A900())\n",
    "conditions.py": b"def f():\n    return R(a=" + b"1 if x else " * 60 + b"1)\n",
    "points.py": b"def f():\n    return R(a=x" + b".y" * 90 + b")\n",
    "words.py": b"lambda: 0\n" * 8_000,
}  # fmt: skip
