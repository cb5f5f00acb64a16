from . import estimates as estimates, page as page, params as params, versions as versions
from .measured import Results as Results, measure as measure
from .versions import check as check, read_answers as read_answers, swap_prompts as swap_prompts
