from . import (
    audit as audit,
    claims as claims,
    corpus as corpus,
    explore as explore,
    figures as figures,
    fits as fits,
    inputs as inputs,
    labels as labels,
    measured as measured,
    models as models,
    params as params,
    prejudice as prejudice,
    replicates as replicates,
    robustness as robustness,
    sample as sample,
    sentences as sentences,
    tables as tables,
    tone as tone,
    topics as topics,
    units as units,
    word_odds as word_odds,
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
from .measured import measure as measure
