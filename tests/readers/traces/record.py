"""Record real traces on the CPU, and cut them down to what a test needs.

Two processes talk over gloo, so this runs anywhere that PyTorch does. For each way to cut the
work, tensor, pipe or fsdp:

    torchrun --nproc-per-node 2 record.py tensor

Each process writes ``tensor-RANK.json.gz`` beside this file: four steps of a model of two
layers, events of other kinds and arguments that nobody reads left out, times from zero.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HIDDEN, HEADS, LAYERS, TOKENS, WORDS, SEQUENCES = 256, 4, 2, 128, 512, 4
KEPT = ("cpu_op", "user_annotation")


def reduced(trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace with what the reader reads, threads by small numbers, times from zero."""
    events = [one for one in trace["traceEvents"] if one.get("cat") in KEPT and one["ph"] == "X"]
    events = [one for one in events if not one["name"].startswith("FSDP::")]
    zero = min(one["ts"] for one in events)
    threads: dict[int, int] = {}
    kept = [
        {
            "ph": "X",
            "cat": one["cat"],
            "name": one["name"],
            "tid": threads.setdefault(one["tid"], len(threads)),
            "ts": round(one["ts"] - zero, 1),
            "dur": round(one["dur"], 1),
        }
        for one in sorted(events, key=lambda one: one["ts"])
    ]
    return {"distributedInfo": trace["distributedInfo"], "traceEvents": kept}


def block() -> Any:
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
            for name in ("q", "k", "v", "out"):
                setattr(self, name, nn.Linear(HIDDEN, HIDDEN, bias=False))
            self.up = nn.Linear(HIDDEN, 4 * HIDDEN, bias=False)
            self.down = nn.Linear(4 * HIDDEN, HIDDEN, bias=False)

        def forward(self, x: Any) -> Any:
            normed = self.first(x)
            shape = (*x.shape[:2], -1, HIDDEN // HEADS)
            q, k, v = (f(normed).view(shape).transpose(1, 2) for f in (self.q, self.k, self.v))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(*x.shape[:2], -1))
            return x + self.down(functional.gelu(self.up(self.second(x))))

    return Block()


def model(layers: int, first: bool = True, last: bool = True) -> Any:
    from torch import nn

    parts = [nn.Embedding(WORDS, HIDDEN)] if first else []
    parts += [block() for _ in range(layers)]
    return nn.Sequential(*parts, *([nn.Linear(HIDDEN, WORDS, bias=False)] if last else []))


def loss(out: Any, target: Any) -> Any:
    from torch.nn import functional

    return functional.cross_entropy(out.flatten(0, 1), target.flatten())


def whole(net: Any, words: Any) -> Callable[[], None]:
    return lambda: loss(net(words), words).backward()


def made(kind: str, rank: int, world: int, words: Any) -> tuple[Any, Callable[[], None]]:
    """Return a model cut in one way, and what runs a step of it."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh

    if kind == "pipe":
        from torch.distributed.pipelining import PipelineStage, Schedule1F1B

        net = model(LAYERS // world, rank == 0, rank == world - 1)
        stage = PipelineStage(net, rank, world, torch.device("cpu"))
        schedule = Schedule1F1B(stage, SEQUENCES, loss_fn=loss)
        return net, (
            (lambda: schedule.step(words)) if rank == 0 else (lambda: schedule.step(target=words))
        )
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp" if kind == "tensor" else "dp",))
    net = model(LAYERS)
    if kind == "tensor":
        from torch.distributed.tensor.parallel import (
            ColwiseParallel,
            RowwiseParallel,
            parallelize_module,
        )

        plan = {name: ColwiseParallel() for name in ("q", "k", "v", "up")}
        plan |= {name: RowwiseParallel() for name in ("out", "down")}
        for layer in net[1:-1]:
            parallelize_module(layer, mesh, plan)
        return net, whole(net, words)
    from torch.distributed.fsdp import fully_shard

    for layer in net[1:-1]:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return net, whole(net, words)


def main(kind: str) -> None:
    import torch
    from torch import distributed
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.set_num_threads(1)
    torch.manual_seed(0)
    distributed.init_process_group("gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    net, step = made(kind, rank, world, torch.randint(0, WORDS, (SEQUENCES, TOKENS)))
    optimizer = torch.optim.AdamW(net.parameters(), foreach=kind != "tensor")
    when = schedule(wait=1, warmup=1, active=4, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=when) as profiler:
        for _ in range(6):
            step()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        text = json.dumps(reduced(json.loads(path.read_text())), separators=(",", ":"))
    (HERE / f"{kind}-{rank}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
