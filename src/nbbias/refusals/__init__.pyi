from .detector import (
    COLUMNS as COLUMNS,
    COUNTS as COUNTS,
    KINDS as KINDS,
    NO_TEXT as NO_TEXT,
    UNSEEN as UNSEEN,
    detect as detect,
    head as head,
    held_out as held_out,
    instrument as instrument,
    probabilities as probabilities,
    swap_effects as swap_effects,
    unseen as unseen,
)
from .features import hits as hits, sentences as sentences, table as table
