from . import (
    estimates as estimates,
    figures as figures,
    neutral as neutral,
    params as params,
    ranking as ranking,
    scoring as scoring,
    sentences as sentences,
    tables as tables,
)
from .inputs import check as check
from .measured import Results as Results, measure as measure
from .scoring import llmbi as llmbi, read_answers as read_answers
