from . import (
    annotate as annotate,
    embeddings as embeddings,
    lexicons as lexicons,
    sentiment as sentiment,
    tokens as tokens,
    topics as topics,
    toxicity as toxicity,
)
