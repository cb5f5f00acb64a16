from . import (
    affinity as affinity,
    diversity as diversity,
    figures as figures,
    masked as masked,
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
from .affinity import affinity_bias_score as affinity_bias_score
from .measured import Results as Results, check as check, measure as measure
from .rbs import BiasScore as BiasScore, representative_bias_score as representative_bias_score
