"""`steptime place`: a job on racks and servers, group by group."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.cli.asking import takes_sizes
from steptime.cli.output import console, print_json, print_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.planning.asked_place import placed_layout
from steptime.planning.placement import Placement, in_use, place, rest_words
from steptime.planning.racks import racks_svg

EXAMPLES = """
Examples:

- `steptime place --tp 8 --pp 16 --gpus 1152`

- `steptime place --tp 8 --pp 16 --dp 64 --domain 8 --order llama3 --json`

- `steptime place --tp 8 --cp 2 --pp 4 --domain 72 --svg > racks.svg`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("place", epilog=EXAMPLES)(place_command)


def as_dict(placement: Placement) -> dict[str, Any]:
    """Return a placement as JSON holds it.

    Args:
        placement: The placement.
    """
    layout = placement.layout
    return {
        "num_gpus": layout.num_devices,
        "layout": {axis: getattr(layout, axis) for axis in SIZES},
        "order": "-".join(placement.order),
        "domain_size": placement.domain_size,
        "num_domains": placement.num_domains,
        "used_per_domain": placement.used_per_domain,
        "spares_per_domain": placement.spares_per_domain,
        "left_over_gpus": placement.left_over,
        "groups": [
            {
                "kind": count.kind,
                "size": count.size,
                "inside": count.inside,
                "crossing": count.crossing,
            }
            for count in placement.groups
        ],
        "hops_inside": placement.hops_inside,
        "hops_crossing": placement.hops_crossing,
    }


def print_placements(placements: list[Placement]) -> None:
    """Print placements of one layout as one table.

    Args:
        placements: One for each kind of domain.
    """
    layout = placements[0].layout
    columns = [("groups", "left"), ("size", "right")]
    for placement in placements:
        columns += [(f"domain of {placement.domain_size}: inside", "right"), ("crossing", "right")]
    rows = []
    for count in placements[0].groups:
        row = [count.kind, str(count.size)]
        for placement in placements:
            found = placement.group(count.kind)
            row += [f"{found.inside:,}", f"{found.crossing:,}"]
        rows.append(row)
    hops = ["pipeline hops", "-"]
    for placement in placements:
        hops += [f"{placement.hops_inside:,}", f"{placement.hops_crossing:,}"]
    rows.append(hops)
    order = "-".join(placements[0].order)
    print_table(f"{layout.num_devices} GPUs, ranks in order {order}", columns, rows)
    out = console()
    for placement in placements:
        out.print(
            f"domain of {placement.domain_size:,}: {placement.num_domains:,} of them, "
            f"{in_use(placement.used_per_domain, placement.num_domains, layout.num_devices)}, "
            f"{rest_words(placement.left_over, placement.num_domains)}"
        )


@takes_sizes
def place_command(
    sizes: dict[str, Any],
    domain: Annotated[
        list[int] | None,
        typer.Option("--domain", help="GPUs in an NVLink domain; repeat it. Default: 72 and 8."),
    ] = None,
    accelerator: Annotated[
        str | None, typer.Option("--accelerator", "-a", help="Take the domain from a preset.")
    ] = None,
    spares: Annotated[int, typer.Option("--spares", help="GPUs to keep free in each domain.")] = 0,
    as_json: opt.AsJson = False,
    as_svg: Annotated[
        bool, typer.Option("--svg", help="Print a picture of the first domain size.")
    ] = False,
) -> None:
    """Place a job on racks or servers: which groups stay inside NVLink, which cross."""
    if as_json and as_svg:
        raise ConfigError("--json and --svg exclude each other; give one")
    order = sizes.pop("order")
    layout = placed_layout(**sizes)
    built = [accelerator_preset(accelerator).nvlink_domain] if accelerator else [72, 8]
    placements = [
        place(layout, domain_size=size, order=order, spares_per_domain=spares)
        for size in domain or built
    ]
    if as_svg:
        typer.echo(racks_svg(placements[0]), nl=False)
    elif as_json:
        print_json([as_dict(placement) for placement in placements])
    else:
        print_placements(placements)
