"""§12c: the pipelines of real runs, and the bubble of their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steptime.evidence.baseline import baseline_job, chapter_rows, fitted_constants
from steptime.evidence.runs import Run, run_of
from steptime.formulas.baseline import baseline_step
from steptime.formulas.flops import hardware_flop_per_token, logit_flop_per_token, num_microbatches
from steptime.formulas.traffic import pipeline_message_bytes
from steptime.pipeline.measure import bubble
from steptime.pipeline.timeline import Work, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A run's pipeline as the baseline sees it: one sequence a micro-batch.

    Attributes:
        run: The run.
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        most_chunks: Chunks of a layer each that a rank can hold.
        useful_s: Compute, tensor and context time of a rank in a step.
        forward_share: Share of it that is forward.
        head_share: Share of all ranks' useful time that the output matrix takes.
        message_bytes: Size of one message between stages.
        latency_s: Its time beyond the bytes.
        bytes_per_s: Bandwidth of a rank to another stage.
        bubble_s: The baseline's bubble.
        sends_s: The baseline's time of pipeline messages.
    """

    run: Run
    stages: int
    micro_batches: int
    most_chunks: int
    useful_s: float
    forward_share: float
    head_share: float
    message_bytes: float
    latency_s: float
    bytes_per_s: float
    bubble_s: float
    sends_s: float

    @property
    def message_s(self) -> float:
        """Time of one message."""
        return self.latency_s + self.message_bytes / self.bytes_per_s

    def lost_s(
        self,
        chunks: int,
        *,
        sends: str = "free",
        layers: Sequence[int] = (),
    ) -> float:
        """Return what a simulated step takes beyond a rank's average useful time.

        Args:
            chunks: Chunks a rank holds; 1 runs 1F1B, more the interleaved schedule.
            sends: free, overlapped, or blocking.
            layers: Layers of each chunk in the order that a micro-batch meets them, the
                output matrix added to the last; all chunks equal if left out.
        """
        each = self.useful_s / self.micro_batches / chunks
        costly = sends != "free"
        work = Work(
            forward=each * self.forward_share,
            backward=each * (1 - self.forward_share),
            stage_scale=self._scale(layers),
            send_latency=self.latency_s if costly else 0,
            send_transfer=self.message_bytes / self.bytes_per_s if costly else 0,
            blocking_sends=sends == "blocking",
        )
        name = "interleaved-1f1b" if chunks > 1 else "1f1b"
        step = simulate(name, self.stages, self.micro_batches, chunks, work)
        return float(bubble(step.orders, step.result)["makespan"]) - self.useful_s

    def _scale(self, layers: Sequence[int]) -> tuple[float, ...]:
        if not layers:
            return ()
        # In units of the average chunk, so that all chunks together are as much as before.
        one = (1 - self.head_share) * len(layers) / sum(layers)
        scale = [count * one for count in layers]
        scale[-1] += self.head_share * len(layers)
        return tuple(scale)


def pipeline_of(run: Run) -> Pipeline:
    """Return the pipeline of a run under the baseline's assumptions.

    Args:
        run: A published run that the baseline can predict.
    """
    constants = fitted_constants()
    record = baseline_job(run)
    told: Mapping[str, Any] = baseline_step(record, constants)
    parts: dict[str, float] = dict(told)
    useful = parts["compute"] + parts["tensor_parallel"] + parts["context_parallel"]
    head = parts["compute"] * logit_flop_per_token(record) / hardware_flop_per_token(record)
    return Pipeline(
        run=run,
        stages=int(record.pp),
        micro_batches=int(num_microbatches(record)),
        most_chunks=int(record.vpp),
        useful_s=useful,
        # Full recomputation runs each forward a second time in the backward.
        forward_share=1 / (3 + float(record.recompute_full)),
        head_share=float(head / useful),
        message_bytes=float(
            pipeline_message_bytes(
                record.micro_batch_size,
                record.seq_length,
                record.cp,
                record.hidden_size,
                record.tp,
                2.0,
            )
        ),
        latency_s=float(constants.latency_s),
        bytes_per_s=float(record.network_bytes_per_s),
        bubble_s=parts["bubble"],
        sends_s=parts["pipeline_sends"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBubble:
    """The bubble of one run, by formula and simulated ever more closely.

    Attributes:
        pipeline: The run's pipeline.
        equal_s: Simulated, equal stages, free sends.
        blocking_s: Simulated bubble and sends, each holding its sender.
        overlapped_s: The same with sends that run beside compute.
        real_s: As ``overlapped_s``, with whole layers and the output matrix on the last rank.
    """

    pipeline: Pipeline
    equal_s: float
    blocking_s: float
    overlapped_s: float
    real_s: float

    @property
    def gap_fraction(self) -> float:
        """Simulated bubble and blocking sends less the formula's, as a share of the step."""
        formula = self.pipeline.bubble_s + self.pipeline.sends_s
        return (self.blocking_s - formula) / (self.pipeline.useful_s + formula)


def largest_gap(rows: Sequence[RunBubble]) -> float:
    """Return the largest `RunBubble.gap_fraction`, without its sign.

    Args:
        rows: From `run_bubbles`.
    """
    return max(abs(row.gap_fraction) for row in rows)


def run_bubbles(ids: Sequence[str] = ()) -> list[RunBubble]:
    """Return the chapter's runs.

    Args:
        ids: Some of them; all 13 if empty.
    """
    found = []
    for row in chapter_rows():
        if ids and row.id not in ids:
            continue
        pipeline = pipeline_of(run_of(row))
        chunks = pipeline.most_chunks if pipeline.stages > 1 else 1
        layers = trimmed_layers(pipeline.run.model.num_layers, pipeline.stages * chunks)
        found.append(
            RunBubble(
                pipeline=pipeline,
                equal_s=pipeline.lost_s(chunks),
                blocking_s=pipeline.lost_s(chunks, sends="blocking"),
                overlapped_s=pipeline.lost_s(chunks, sends="overlapped"),
                real_s=pipeline.lost_s(chunks, sends="overlapped", layers=layers),
            )
        )
    return found


def trimmed_layers(num_layers: int, chunks: int, ends_first: bool = True) -> list[int]:
    """Return whole layers for each chunk; those with one fewer are at the ends, or in the middle.

    Args:
        num_layers: Layers in all.
        chunks: Chunks in all.
        ends_first: Whether the first and last chunk go short first, as Llama 3's did.
    """
    most = -(-num_layers // chunks)
    layers = [most] * chunks
    order = [place for i in range((chunks + 1) // 2) for place in (chunks - 1 - i, i)]
    if not ends_first:
        order.reverse()
    for place in order[: most * chunks - num_layers]:
        layers[place] -= 1
    return layers
