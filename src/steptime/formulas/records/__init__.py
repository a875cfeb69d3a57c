"""What formulas take and give, by name, so that a misspelt field fails the type check.

Records that are taken are dataclasses of numbers: one place for each field and what it means.
What is given back is a dict with fixed keys. A number is a float, an array, or a number in the
page; `steptime.inputs` checks what becomes one.
"""

from steptime.formulas.records.constants import (
    BaselineConstants,
    Constants,
    PeakWidth,
    Width,
)
from steptime.formulas.records.held_bytes import (
    ActivationParts,
    FlightLine,
    LayerTokens,
    MemoryParts,
    RankEnds,
    RankParameters,
    RankTerms,
    SharedTerms,
    StageLayers,
    StateTerms,
    StoredTokens,
    TokenBytes,
    WholeTerms,
    WorstRank,
)
from steptime.formulas.records.job import Job
from steptime.formulas.records.memory_facts import MemoryFacts
from steptime.formulas.records.results import DeviceFault, Fault, Message, Outcome
from steptime.formulas.records.stage import EndSlots, StageCut, StatedSplit
from steptime.formulas.records.step import (
    BaselineParts,
    EndRank,
    Ends,
    Exchange,
    Exchanges,
    Floors,
    Interval,
    LandedChunks,
    LayerMessages,
    LayerParts,
    LinkRates,
    LinkTimes,
    Longest,
    Messages,
    Pace,
    Parameters,
    Passes,
    Products,
    Rounds,
    StepParts,
    TensorMessages,
)
from steptime.formulas.records.time_facts import TimeFacts

__all__ = [
    "ActivationParts",
    "BaselineConstants",
    "BaselineParts",
    "Constants",
    "DeviceFault",
    "EndRank",
    "EndSlots",
    "Ends",
    "Exchange",
    "Exchanges",
    "Fault",
    "FlightLine",
    "Floors",
    "Interval",
    "Job",
    "LandedChunks",
    "LayerMessages",
    "LayerParts",
    "LayerTokens",
    "LinkRates",
    "LinkTimes",
    "Longest",
    "MemoryFacts",
    "MemoryParts",
    "Message",
    "Messages",
    "Outcome",
    "Pace",
    "Parameters",
    "Passes",
    "PeakWidth",
    "Products",
    "RankEnds",
    "RankParameters",
    "RankTerms",
    "Rounds",
    "SharedTerms",
    "StageCut",
    "StageLayers",
    "StateTerms",
    "StatedSplit",
    "StepParts",
    "StoredTokens",
    "TensorMessages",
    "TimeFacts",
    "TokenBytes",
    "WholeTerms",
    "Width",
    "WorstRank",
]
