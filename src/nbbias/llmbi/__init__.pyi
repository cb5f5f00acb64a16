from . import (
    audit as audit,
    estimates as estimates,
    figures as figures,
    neutral as neutral,
    params as params,
    ranking as ranking,
    scoring as scoring,
    sentences as sentences,
    tables as tables,
    units as units,
)
from .measured import measure as measure
from .scoring import llmbi as llmbi
