from . import (
    example as example,
    lexicon as lexicon,
    pairs as pairs,
    topics as topics,
    word_odds as word_odds,
)
