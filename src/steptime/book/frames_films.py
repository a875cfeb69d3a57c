"""The three films of moving data: a column-then-row product, a ring, an all-to-all."""

from __future__ import annotations

from steptime.book.frames import LANES, Film, Frame, Tile, middle
from steptime.formulas.collectives import all_reduce_sent_bytes

INPUT = (1, 2)
FIRST = ((1, 0, 2, 1), (1, 2, 0, 1))
SECOND = ((1, 2), (2, 0), (0, 1), (1, 1))
"""A small network in whole numbers: its input, its two matrices."""
CHOSEN = ((0, 1, 2, 2), (2, 3, 2, 0), (1, 2, 3, 1), (2, 0, 3, 2))
"""The expert that each token of each GPU picks: uneven, as routers are."""


def products() -> tuple[list[int], list[tuple[int, int]], tuple[int, int]]:
    """Return each GPU's hidden number, its partial sum, and the sum of all."""
    columns = list(zip(*FIRST, strict=True))
    hidden = [sum(x * a for x, a in zip(INPUT, column, strict=True)) for column in columns]
    partial = [(h * a, h * b) for h, (a, b) in zip(hidden, SECOND, strict=True)]
    return hidden, partial, (sum(a for a, _ in partial), sum(b for _, b in partial))


def tensor_film() -> Film:
    """Return the product cut by columns, then by rows, and the one message that ends it."""
    hidden, partial, total = products()
    wide = 62.0
    tiles, start = {}, {}
    for gpu in range(LANES):
        column = " ".join(str(row[gpu]) for row in FIRST)
        for name, word, kind, y in (
            (f"x{gpu}", f"x {INPUT[0]} {INPUT[1]}", "k7", 40.0),
            (f"a{gpu}", f"A {column}", "k0", 72.0),
            (f"b{gpu}", f"B {SECOND[gpu][0]} {SECOND[gpu][1]}", "k2", 136.0),
        ):
            tiles[name] = Tile(word, kind, wide)
            start[name] = (middle(gpu, wide), y)
        tiles[f"h{gpu}"] = Tile(f"h {hidden[gpu]}", "k4", wide)
        tiles[f"p{gpu}"] = Tile(f"{partial[gpu][0]} {partial[gpu][1]}", "k1", wide)
        tiles[f"y{gpu}"] = Tile(f"y {total[0]} {total[1]}", "k3", wide)
    with_hidden = start | {f"h{gpu}": (middle(gpu, wide), 104.0) for gpu in range(LANES)}
    with_parts = with_hidden | {f"p{gpu}": (middle(gpu, wide), 168.0) for gpu in range(LANES)}
    meeting = with_hidden | {f"p{gpu}": (25.0 + 76.0 * gpu, 200.0) for gpu in range(LANES)}
    ended = with_hidden | {f"y{gpu}": (middle(gpu, wide), 200.0) for gpu in range(LANES)}
    sent = all_reduce_sent_bytes(1.0, float(LANES))
    sums = " + ".join(str(a) for a, _ in partial)
    frames = [
        Frame("Each GPU has the whole input x, one column of A and one row of B.", start),
        Frame(
            "Each multiplies x by its column: one hidden number. Nobody sends anything.",
            with_hidden,
        ),
        Frame("Each multiplies it by its row: a partial sum of the whole output.", with_parts),
        Frame(f"One all-reduce adds the parts up: {sums} = {total[0]}, and so on.", meeting),
        Frame(
            f"All have the output y. Each GPU sent {sent:g} times its size round the ring.", ended
        ),
    ]
    label = "Four GPUs share two matrices: columns of the first, rows of the second, then one sum."
    return Film(label, 232.0, tiles, frames)


def ring_film() -> Film:
    """Return keys and values going round a ring, and who had work with them."""
    tiles = {f"q{gpu}": Tile(f"Q{gpu}", "k0") for gpu in range(LANES)}
    tiles |= {f"k{gpu}": Tile(f"KV{gpu}", "k1") for gpu in range(LANES)}
    steady = {f"q{gpu}": (middle(gpu), 30.0) for gpu in range(LANES)}
    frames, done = [], dict[str, tuple[float, float]]()
    for turn in range(LANES):
        held = {gpu: (gpu - turn) % LANES for gpu in range(LANES)}
        busy = [gpu for gpu in range(LANES) if held[gpu] <= gpu]
        for gpu, piece in held.items():
            name = f"w{gpu}{piece}"
            kind = "k2" if gpu in busy else "none"
            tiles[name] = Tile("" if gpu in busy else "–", kind, 16.0, 16.0)
            done[name] = (middle(gpu, 72.0) + 18.0 * piece + 1.0, 108.0)
        moving = {f"k{piece}": (middle(gpu), 72.0) for gpu, piece in held.items()}
        frames.append(Frame(_turn(turn, busy), steady | moving | done))
    work = [gpu + 1 for gpu in range(LANES)]
    says = (
        f"All queries have met all keys. GPU 0 had {work[0]} block of work, GPU {LANES - 1} had "
        f"{work[-1]}: in zigzag order all have as much."
    )
    frames.append(Frame(says, frames[-1].places))
    label = "Four GPUs in a ring: queries stay, keys and values move on, one GPU a turn."
    key = "Green: a block of keys and values compared. A dash: nothing to compare."
    return Film(label, 132.0, tiles, frames, key)


def _turn(turn: int, busy: list[int]) -> str:
    names = ", ".join(str(gpu) for gpu in busy)
    if not turn:
        return "Each GPU compares its queries with its own keys and values."
    one = len(busy) == 1
    return (
        f"Keys and values move on to the next GPU. A token sees only what came before it: "
        f"{'GPU' if one else 'GPUs'} {names} {'has' if one else 'have'} work."
    )


def arrivals() -> list[int]:
    """Return how many tokens each expert gets."""
    every = [expert for tokens in CHOSEN for expert in tokens]
    return [every.count(expert) for expert in range(LANES)]


def exchange_film() -> Film:
    """Return tokens that go to the GPUs of their experts, and home again."""
    kinds = ("k0", "k1", "k2", "k3")
    tiles = {f"e{gpu}": Tile(f"expert {gpu}", kinds[gpu], 66.0) for gpu in range(LANES)}
    experts = {f"e{gpu}": (middle(gpu, 66.0), 26.0) for gpu in range(LANES)}
    home: dict[str, tuple[float, float]] = {}
    away: dict[str, tuple[float, float]] = {}
    filled = [0] * LANES
    for gpu, tokens in enumerate(CHOSEN):
        for place, expert in enumerate(tokens):
            name = f"t{gpu}{place}"
            tiles[name] = Tile(str(expert), kinds[expert], 20.0, 20.0)
            home[name] = _spot(gpu, place, 138.0)
            away[name] = _spot(expert, filled[expert], 62.0)
            filled[expert] += 1
    most = max(arrivals())
    mean = sum(arrivals()) / LANES
    busiest = arrivals().index(most)
    frames = [
        Frame("Each token has picked an expert: its number and its colour.", experts | home),
        Frame("Dispatch: an all-to-all takes each token to the GPU of its expert.", experts | away),
        Frame(
            f"GPU {busiest} has {most} tokens, the mean is {mean:g}: all wait for it.",
            experts | away,
        ),
        Frame("Combine: a second all-to-all brings the answers home.", experts | home),
    ]
    label = "Four GPUs with an expert each: tokens go to their experts and come back."
    return Film(label, 192.0, tiles, frames)


def _spot(gpu: int, place: int, y: float) -> tuple[float, float]:
    """Return where a token stands in a lane: three a row away, and as many at home."""
    return middle(gpu, 68.0) + 24.0 * (place % 3), y + 24.0 * (place // 3)
