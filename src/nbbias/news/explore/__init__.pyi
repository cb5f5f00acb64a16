from . import example as example, lexicon as lexicon, live as live, pairs as pairs, topics as topics
