from . import (
    assumed as assumed,
    plannable as plannable,
    planning as planning,
)
from .trials import (
    Design as Design,
    Measure as Measure,
    Trial as Trial,
    false_leads as false_leads,
    outcomes as outcomes,
)
