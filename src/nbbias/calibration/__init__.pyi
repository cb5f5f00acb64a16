from . import (
    assumed as assumed,
    estimates as estimates,
    figures as figures,
    grid as grid,
    measures as measures,
    params as params,
    plannable as plannable,
    planning as planning,
    sentences as sentences,
    tables as tables,
)
from .measured import measure as measure
from .trials import (
    Design as Design,
    Measure as Measure,
    Trial as Trial,
    false_leads as false_leads,
    outcomes as outcomes,
)
