from . import (
    audit as audit,
    compare as compare,
    corpus as corpus,
    figures as figures,
    params as params,
    refusing as refusing,
    sample as sample,
    sentences as sentences,
    tables as tables,
    units as units,
)
from .measured import measure as measure
