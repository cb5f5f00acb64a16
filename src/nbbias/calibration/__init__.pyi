from . import (
    designs as designs,
    estimates as estimates,
    figures as figures,
    params as params,
    planning as planning,
    sentences as sentences,
)
from .designs import check as check
from .estimates import shipped as shipped, shipped_power as shipped_power, summarize as summarize
from .measured import Results as Results, measure as measure
