from . import estimates as estimates, page as page, params as params, scoring as scoring
from .measured import Results as Results, check as check, measure as measure
from .scoring import llmbi as llmbi, read_answers as read_answers
