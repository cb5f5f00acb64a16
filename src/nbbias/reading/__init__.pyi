from . import explorer as explorer, figures as figures, live as live, markup as markup
from .figures import Drawn as Drawn
from .sentences import (
    CORRECTIONS as CORRECTIONS,
    anova_sentences as anova_sentences,
    beyond_chance as beyond_chance,
    difference_sentence as difference_sentence,
    difference_sentences as difference_sentences,
    escape as escape,
    estimate_sentence as estimate_sentence,
    estimate_sentences as estimate_sentences,
    interval as interval,
    number as number,
    p_value as p_value,
    printed_sentences as printed_sentences,
    say as say,
)
from .tables import Table as Table, readable as readable, show as show
from .terminal import Format as Format, Terminal as Terminal
