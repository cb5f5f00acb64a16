from . import (
    affinity as affinity,
    diversity as diversity,
    figures as figures,
    params as params,
    people as people,
    rbs as rbs,
    replies as replies,
    sample as sample,
    sentences as sentences,
    spread as spread,
    suite as suite,
    tables as tables,
    visible as visible,
)
from .measured import Results as Results, check as check, measure as measure
