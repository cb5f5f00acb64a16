from . import (
    designs as designs,
    estimates as estimates,
    figures as figures,
    params as params,
    planning as planning,
    sentences as sentences,
)
from .estimates import summarize as summarize
from .measured import Results as Results, measure as measure
from .trials import (
    Design as Design,
    Measure as Measure,
    Trial as Trial,
    family_errors as family_errors,
    outcomes as outcomes,
)
