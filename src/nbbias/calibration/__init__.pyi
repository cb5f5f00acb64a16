from . import (
    assumed as assumed,
    estimates as estimates,
    figures as figures,
    grid as grid,
    measures as measures,
    params as params,
    plannable as plannable,
    planning as planning,
    printed as printed,
    sentences as sentences,
    tables as tables,
    worlds as worlds,
)
from .measured import measure as measure
from .shipped import shipped as shipped
from .trials import (
    Design as Design,
    Measure as Measure,
    Trial as Trial,
    false_leads as false_leads,
    outcomes as outcomes,
)
