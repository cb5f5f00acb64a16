from . import (
    biasalert as biasalert,
    biased_prompts as biased_prompts,
    calibration as calibration,
    cogs as cogs,
    counterfactual as counterfactual,
    llmbi as llmbi,
    news as news,
    notebook as notebook,
    reading as reading,
    refusals as refusals,
    stats as stats,
    studies as studies,
    tables as tables,
    testing as testing,
    text as text,
)
from .custom import measure as measure

__version__: str
