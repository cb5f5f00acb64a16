from . import (
    annotate as annotate,
    embeddings as embeddings,
    lexicons as lexicons,
    sentiment as sentiment,
    substitution as substitution,
    topics as topics,
    toxicity as toxicity,
)
