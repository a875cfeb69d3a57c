"""A picture of racks: every GPU a square, coloured by its pipeline stage."""

from __future__ import annotations

from html import escape

from steptime.inputs.in_number import counted
from steptime.planning.groups import axis_strides
from steptime.planning.placement import Placement

COLOURS = (
    ("--st-forward", "#2A5CAA"),
    ("--st-backward", "#E69F00"),
    ("--st-weight", "#44AA99"),
    ("--st-other", "#7B1E5B"),
    ("--st-sky", "#56B4E9"),
    ("--st-indigo", "#332288"),
    ("--st-green", "#117733"),
    ("--st-muted", "#777B82"),
)
WIDTH = 688
CELL = 17
GAP = 12
MOST_DOMAINS = 16


def stage_of(placement: Placement, rank: int) -> int:
    """Return the pipeline stage of a rank.

    Args:
        placement: Gives the order.
        rank: The rank.
    """
    sizes = {axis: getattr(placement.layout, axis) for axis in placement.order}
    stride = axis_strides(list(placement.order), sizes)["pp"]
    return rank // stride % placement.layout.pp


def summary(placement: Placement) -> str:
    """Return the picture in words, for those who cannot see it.

    Args:
        placement: What is drawn.
    """
    layout = placement.layout
    crossing = [count.kind for count in placement.groups if count.crossing]
    inside = [count.kind for count in placement.groups if not count.crossing]
    return (
        f"{counted(layout.num_devices, 'GPUs')} (t = {layout.tp}, c = {layout.cp}, "
        f"p = {layout.pp}, d = {layout.dp}) on "
        f"{counted(placement.num_domains, 'domains')} of {placement.domain_size}. "
        f"All groups inside one domain: {', '.join(inside) or 'none'}. "
        f"Groups that cross: {', '.join(crossing) or 'none'}. "
        f"Pipeline hops: {placement.hops_inside} inside, {placement.hops_crossing} across."
    )


def racks_svg(placement: Placement, *, width: int = WIDTH, most: int = MOST_DOMAINS) -> str:
    """Return the domains as SVG: squares are GPUs, colours and letters are pipeline stages.

    A frame holds one tensor-parallel group; dashed squares are spares. Colours are the
    site's variables with a fallback, so that the file also stands alone.

    Args:
        placement: What to draw.
        width: Of the picture.
        most: Domains to draw; the caption says how many there are.
    """
    shown = min(placement.num_domains, most)
    columns = _columns(placement.domain_size)
    rows = -(-placement.domain_size // columns)
    box_width, box_height = columns * CELL + 8, rows * CELL + 26
    across = max(1, (width + GAP) // (box_width + GAP))
    height = -(-shown // across) * (box_height + GAP) + 18
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="st-figure" role="img" '
        f'aria-label="{escape(summary(placement), quote=True)}" '
        f'viewBox="0 0 {width} {height}" font-size="11">'
    ]
    for domain in range(shown):
        left = domain % across * (box_width + GAP)
        top = domain // across * (box_height + GAP)
        pieces += _domain(placement, domain, left, top, columns, rows)
    more = placement.num_domains - shown
    note = f"{more:,} more like these" if more > 0 else "one colour and letter a pipeline stage"
    pieces.append(f'<text x="0" y="{height - 4}" fill="currentColor">{note}</text></svg>')
    return "\n".join(pieces) + "\n"


def _columns(domain_size: int) -> int:
    """Return the squares side by side: 8 in a rack, 4 in a server."""
    return 4 if domain_size <= 16 else 8 if domain_size <= 128 else 16


def _domain(
    placement: Placement, domain: int, left: int, top: int, columns: int, rows: int
) -> list[str]:
    """Return one domain: its frame, its GPUs, and the frames of tensor groups."""
    first = domain * placement.used_per_domain
    last = min(first + placement.used_per_domain, placement.layout.num_devices)
    pieces = [
        f'<text x="{left}" y="{top + 10}" fill="currentColor">{domain + 1}</text>',
        f'<rect x="{left}" y="{top + 14}" width="{columns * CELL + 8}" '
        f'height="{rows * CELL + 8}" rx="3" fill="none" stroke="currentColor"/>',
    ]
    for place in range(placement.domain_size):
        x = left + 4 + place % columns * CELL
        y = top + 18 + place // columns * CELL
        rank = first + place
        if rank >= last:
            pieces.append(
                f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="none" '
                'stroke="currentColor" stroke-dasharray="2 2" opacity="0.5"/>'
            )
            continue
        stage = stage_of(placement, rank)
        name, colour = COLOURS[stage % len(COLOURS)]
        ink = "#000" if stage % len(COLOURS) in (1, 2, 4) else "#fff"
        begins = rank % placement.layout.tp == 0
        stroke = ' stroke="currentColor" stroke-width="1.5"' if begins else ""
        pieces.append(
            f'<rect data-rank="{rank}" x="{x + 1}" y="{y + 1}" width="{CELL - 2}" '
            f'height="{CELL - 2}" fill="var({name}, {colour})"{stroke}/>'
        )
        if placement.layout.pp > 1:
            letter = chr(ord("A") + stage % 26)
            pieces.append(
                f'<text x="{x + CELL / 2}" y="{y + CELL - 5}" text-anchor="middle" '
                f'font-size="10" fill="{ink}">{letter}</text>'
            )
    return pieces
