from . import example as example, lexicon as lexicon, pairs as pairs, topics as topics
