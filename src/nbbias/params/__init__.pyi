from .base import (
    NONE as NONE,
    Device as Device,
    Distinct as Distinct,
    Draws as Draws,
    EmbeddingModel as EmbeddingModel,
    InputFile as InputFile,
    MainEstimate as MainEstimate,
    ModelName as ModelName,
    OptionalFile as OptionalFile,
    Parameters as Parameters,
    Seed as Seed,
    Settings as Settings,
    Strict as Strict,
    Study as Study,
    Texts as Texts,
    ToxicityScorer as ToxicityScorer,
    Units as Units,
    shipped_texts as shipped_texts,
)
from .claims import (
    CLAIM_KEYS as CLAIM_KEYS,
    MOST as MOST,
    SMALLEST as SMALLEST,
    Claim as Claim,
    Claims as Claims,
    check_claims as check_claims,
    claims_sha256 as claims_sha256,
    match_claim as match_claim,
    named_statistics as named_statistics,
    worse_directions as worse_directions,
)
from .inputs import Input as Input, validate_inputs as validate_inputs
from .keys import (
    REDACTED as REDACTED,
    key_breaches as key_breaches,
    redact as redact,
    redact_known as redact_known,
)
from .names import FAILED as FAILED, name_differences as name_differences
from .values import (
    analysis_sha256 as analysis_sha256,
    cell_source as cell_source,
    describe as describe,
    input_files as input_files,
    map_paths as map_paths,
    relocate as relocate,
    shorten as shorten,
    validate as validate,
    walk as walk,
    written_files as written_files,
)
from .yaml import as_yaml as as_yaml, override as override, read_yaml as read_yaml
