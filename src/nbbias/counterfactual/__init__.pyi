from . import estimates as estimates, page as page, params as params, versions as versions
from .measured import Results as Results, check as check, measure as measure
from .versions import read_answers as read_answers, swap_prompts as swap_prompts
