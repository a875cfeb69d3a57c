"""What formulas take and give, by name, so that a misspelt field fails the type check.

Records that are taken are protocols: any object with those fields will do, a dataclass of
`steptime.inputs` or a record of arrays. What is given back is a dict with fixed keys. The
values stay ``Number``: a float, an array, or a number in the page.
"""

from steptime.formulas.records.constants import BaselineConstants, Constants
from steptime.formulas.records.job import Job
from steptime.formulas.records.memory import (
    ActivationParts,
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
    WorstRank,
)
from steptime.formulas.records.memory_facts import MemoryFacts
from steptime.formulas.records.outcome import DeviceFault, Fault, Message, Outcome
from steptime.formulas.records.stack import Stack
from steptime.formulas.records.stage import EndSlots, StageCut
from steptime.formulas.records.step import (
    BaselineParts,
    Exchange,
    Floors,
    LayerParts,
    Longest,
    Messages,
    Pace,
    Passes,
    Products,
    StepParts,
)

__all__ = [
    "ActivationParts",
    "BaselineConstants",
    "BaselineParts",
    "Constants",
    "DeviceFault",
    "EndSlots",
    "Exchange",
    "Fault",
    "Floors",
    "Job",
    "LayerParts",
    "LayerTokens",
    "Longest",
    "MemoryFacts",
    "MemoryParts",
    "Message",
    "Messages",
    "Outcome",
    "Pace",
    "Passes",
    "Products",
    "RankEnds",
    "RankParameters",
    "RankTerms",
    "SharedTerms",
    "Stack",
    "StageCut",
    "StageLayers",
    "StateTerms",
    "StepParts",
    "StoredTokens",
    "TokenBytes",
    "WorstRank",
]
