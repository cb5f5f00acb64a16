from . import (
    cards as cards,
    claims as claims,
    figures as figures,
    frames as frames,
    lead as lead,
    live as live,
    markup as markup,
    names as names,
    plain as plain,
    policy as policy,
    quotes as quotes,
    reach as reach,
    templates as templates,
)
from .figures import Drawn as Drawn
from .keyfigure import forest as forest
from .lead import Lead as Lead
from .sentences import (
    CORRECTIONS as CORRECTIONS,
    beyond_chance as beyond_chance,
    escape as escape,
    estimate_sentence as estimate_sentence,
    interval as interval,
    number as number,
    p_value as p_value,
    say as say,
    selected as selected,
)
from .tables import Table as Table, p_column as p_column, readable as readable, show as show
from .terminal import Format as Format, Terminal as Terminal
