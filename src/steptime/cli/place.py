"""`steptime place`: a job on racks and servers, group by group."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from steptime.answer import Prediction, predict
from steptime.cli import options as opt
from steptime.cli.asking import takes_sizes
from steptime.cli.output import console, print_json, print_table
from steptime.cli.predict import as_dict as step_as_dict
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import BY_NAME, SIZES
from steptime.inputs.in_number import counted
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.planning.asked_place import placed_layout
from steptime.planning.placement import RACK, SERVER, Placement, in_use, place, rest_words
from steptime.planning.racks import racks_svg

EXAMPLES = """
Examples:

- `steptime place --tp 8 --pp 16 --gpus 1152`

- `steptime place --tp 8 --pp 16 --dp 64 --domain 8 --order llama3 --json`

- `steptime place --tp 8 --pp 16 --dp 9 -a gb200 -m llama3-405b -s 8192 -B 1152 --stack megatron`

- `steptime place --tp 8 --cp 2 --pp 4 --domain 72 --svg > racks.svg`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("place", epilog=EXAMPLES)(place_command)


def steps(
    placements: list[Placement],
    sizes: dict[str, Any],
    rest: dict[str, Any],
    how: opt.How,
    accelerator: str | None,
) -> list[Prediction | None]:
    """Return the step in each kind of domain; None where nobody names a model.

    A domain counts with the devices of it that the job works on.

    Args:
        placements: One for each kind of domain.
        sizes: Of the layout.
        rest: What else is stated of the step.
        how: What is told of software, network and model of the time.
        accelerator: The device.

    Raises:
        ConfigError: If something is stated that changes no count, or a step lacks something.
    """
    if "model" not in rest:
        for name in (*rest, *how.inputs):
            flag = BY_NAME[name].flags[0] if name in BY_NAME else f"--{name}"
            raise ConfigError(
                f"{flag} changes no count of groups; add --model, -a, -s and -B for the time of a "
                "step, or leave it out"
            )
        return [None] * len(placements)
    stated = rest | {"accelerator": accelerator}
    for name in ("accelerator", "seq_length", "global_batch_size"):
        if stated.get(name) is None:
            raise ConfigError(f"the time of a step needs {BY_NAME[name].flags[0]} beside --model")
    device = how.device(str(accelerator))
    told = {name: value for name, value in how.inputs.items() if name != "network_gbit"}
    return [
        predict(**sizes | rest | told, accelerator=device, nvlink_domain=placement.used_per_domain)
        for placement in placements
    ]


def as_dict(
    placement: Placement, step: Prediction | None = None, caution: str = ""
) -> dict[str, Any]:
    """Return a placement as JSON holds it.

    Args:
        placement: The placement.
        step: On it, if it was asked for.
        caution: Why an answer for the device is not to be trusted, if it is not.
    """
    layout = placement.layout
    return {
        "num_gpus": layout.num_devices,
        "caution": caution or None,
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
        "step": None if step is None else step_as_dict(step),
    }


def print_placements(
    placements: list[Placement], answers: list[Prediction | None], caution: str = ""
) -> None:
    """Print placements of one layout as one table.

    Args:
        placements: One for each kind of domain.
        answers: The step in each, if it was asked for.
        caution: As in `as_dict`.
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
    print_table(f"{counted(layout.num_devices, 'GPUs')}, ranks in order {order}", columns, rows)
    out = console()
    for placement in placements:
        out.print(
            f"domain of {placement.domain_size:,}: {placement.num_domains:,} of them, "
            f"{in_use(placement.used_per_domain, placement.num_domains, layout.num_devices)}, "
            f"{rest_words(placement.left_over, placement.num_domains)}"
        )
    for placement, step in zip(placements, answers, strict=True):
        if step is not None:
            out.print(f"domain of {placement.domain_size}: {step.title()}")
    if caution:
        out.print(caution)


@takes_sizes
def place_command(
    sizes: dict[str, Any],
    rest: dict[str, Any],
    how: opt.How,
    domain: Annotated[
        list[int] | None,
        typer.Option(
            "--domain",
            "--nvlink-domain",
            help="GPUs in an NVLink domain; repeat it. Default: 72 and 8.",
        ),
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
    if as_svg and rest:
        raise ConfigError("--svg draws ranks, and no time of a step; leave out --model")
    if domain and accelerator and "model" not in rest:
        raise ConfigError(
            f"--domain {domain[0]} and -a {accelerator} both give the domain; leave one of them out"
        )
    order = sizes["order"]
    layout = placed_layout(**{name: size for name, size in sizes.items() if name != "order"})
    device = accelerator_preset(accelerator) if accelerator else None
    caution = f"{device.name}: {device.caution}" if device and device.caution else ""
    placements = [
        place(layout, domain_size=size, order=order, spares_per_domain=spares)
        for size in domain or ([device.nvlink_domain] if device else [RACK, SERVER])
    ]
    found = steps(placements, sizes, rest, how, accelerator)
    if as_svg:
        typer.echo(racks_svg(placements[0]), nl=False)
    elif as_json:
        pairs = zip(placements, found, strict=True)
        print_json([as_dict(placement, step, caution) for placement, step in pairs])
    else:
        print_placements(placements, found, caution)
