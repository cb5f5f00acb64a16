from .detector import (
    COLUMNS as COLUMNS,
    ECHO as ECHO,
    NO_TEXT as NO_TEXT,
    detect as detect,
    head as head,
    held_out as held_out,
    instrument as instrument,
    probabilities as probabilities,
)
from .features import hits as hits, sentences as sentences, sign as sign, table as table
