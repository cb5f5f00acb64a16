from . import (
    annotate as annotate,
    audit as audit,
    embeddings as embeddings,
    lexicons as lexicons,
    sentiment as sentiment,
    topics as topics,
    toxicity as toxicity,
)
