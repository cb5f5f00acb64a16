from . import entries as entries, groups as groups, retrieval as retrieval
