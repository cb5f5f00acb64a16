from . import (
    example as example,
    interactive as interactive,
    lexicon as lexicon,
    pairs as pairs,
    topics as topics,
)
