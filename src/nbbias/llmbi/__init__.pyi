from . import (
    estimates as estimates,
    figures as figures,
    measure as measure,
    neutral as neutral,
    params as params,
    ranking as ranking,
    sentences as sentences,
    tables as tables,
    units as units,
)
from .measure import llmbi as llmbi
