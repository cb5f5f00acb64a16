from . import (
    compare as compare,
    corpus as corpus,
    figures as figures,
    refusing as refusing,
    sample as sample,
    sentences as sentences,
    tables as tables,
)
