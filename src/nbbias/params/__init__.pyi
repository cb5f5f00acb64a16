from .base import (
    NONE as NONE,
    InputFile as InputFile,
    OptionalFile as OptionalFile,
    Parameters as Parameters,
    Seed as Seed,
    no_twins as no_twins,
)
from .keys import (
    REDACTED as REDACTED,
    Redact as Redact,
    key_breaches as key_breaches,
    redact as redact,
    redact_known as redact_known,
)
from .values import (
    cell_source as cell_source,
    check as check,
    describe as describe,
    describe_model as describe_model,
    input_files as input_files,
    override as override,
    read as read,
    study as study,
    validate as validate,
    validate_model as validate_model,
)
