from . import (
    cards as cards,
    claims as claims,
    figures as figures,
    lead as lead,
    markup as markup,
    names as names,
    phrases as phrases,
    prose as prose,
    significance as significance,
    templates as templates,
    tipping as tipping,
)
from .figures import Drawn as Drawn
from .lead import Lead as Lead, forest as forest
from .phrases import (
    count_significant as count_significant,
    estimate_sentence as estimate_sentence,
    selected as selected,
)
from .prose import (
    escape as escape,
    interval as interval,
    number as number,
    p_value as p_value,
    say as say,
)
from .tables import (
    Table as Table,
    caption as caption,
    readable as readable,
    results_html as results_html,
    show as show,
)
from .terminal import Format as Format, Terminal as Terminal
