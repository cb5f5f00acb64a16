from . import (
    counterfactuals as counterfactuals,
    entries as entries,
    groups as groups,
    retrieval as retrieval,
    sample as sample,
    split as split,
)
