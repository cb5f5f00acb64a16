from . import (
    claims as claims,
    corpus as corpus,
    discovery as discovery,
    diversity as diversity,
    explore as explore,
    fits as fits,
    labels as labels,
    measured as measured,
    params as params,
    replicates as replicates,
    sample as sample,
    scoring as scoring,
    shares as shares,
    tone as tone,
    topics as topics,
    words as words,
)
from .claims import Level as Level
from .corpus import (
    Read as Read,
    annotate as annotate,
    lexicon as lexicon,
    pair as pair,
    read as read,
    second_texts as second_texts,
)
from .measured import (
    Results as Results,
    check as check,
    measure as measure,
    measure_corpus as measure_corpus,
    read_corpus as read_corpus,
)
from .reading import figures as figures, sentences as sentences, tables as tables
