from . import (
    cards as cards,
    claims as claims,
    figures as figures,
    frames as frames,
    interactive as interactive,
    lead as lead,
    markup as markup,
    names as names,
    phrases as phrases,
    policy as policy,
    prose as prose,
    quotes as quotes,
    significance as significance,
    templates as templates,
)
from .captions import caption as caption
from .figures import Drawn as Drawn
from .keyfigure import forest as forest
from .lead import Lead as Lead
from .phrases import (
    CORRECTIONS as CORRECTIONS,
    count_significant as count_significant,
    estimate_sentence as estimate_sentence,
    headline as headline,
    selected as selected,
)
from .prose import (
    escape as escape,
    interval as interval,
    number as number,
    p_value as p_value,
    say as say,
)
from .tables import Table as Table, p_column as p_column, readable as readable, show as show
from .terminal import Format as Format, Terminal as Terminal
