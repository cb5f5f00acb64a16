from . import (
    discovered as discovered,
    example as example,
    interactive as interactive,
    lexicon as lexicon,
    pairs as pairs,
    topics as topics,
)
