from . import (
    claims as claims,
    corpus as corpus,
    explore as explore,
    figures as figures,
    fits as fits,
    inputs as inputs,
    labels as labels,
    measured as measured,
    params as params,
    prejudice as prejudice,
    replicates as replicates,
    sample as sample,
    scoring as scoring,
    sentences as sentences,
    shares as shares,
    tables as tables,
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
    twins as twins,
)
from .measured import (
    measure as measure,
    measure_corpus as measure_corpus,
    read_corpus as read_corpus,
)
