"""The one door: from a question to parts, memory, interval, verdict, and what was assumed.

Every command, the Python interface, the search, the judgement of published runs and the layout
page come through here; nothing else puts together what goes into the formulas.
"""

from steptime.answer.answer import Prediction, answer
from steptime.answer.asked import predict
from steptime.answer.predictor import PREDICTORS
from steptime.answer.question import Question

__all__ = ["PREDICTORS", "Prediction", "Question", "answer", "predict"]
