from . import (
    affinity as affinity,
    figures as figures,
    logit as logit,
    people as people,
    rbs as rbs,
    reference as reference,
    replies as replies,
    sample as sample,
    sentences as sentences,
    suite as suite,
    tables as tables,
    visible as visible,
)
