from . import lexicon as lexicon, pairs as pairs, topics as topics
