from . import (
    compare as compare,
    corpus as corpus,
    figures as figures,
    params as params,
    refusing as refusing,
    sample as sample,
    sentences as sentences,
    tables as tables,
)
from .measured import (
    Results as Results,
    check as check,
    measure as measure,
    measure_corpus as measure_corpus,
    read_corpus as read_corpus,
    score_answers as score_answers,
)
