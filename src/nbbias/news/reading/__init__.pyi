from . import figures as figures, sentences as sentences, tables as tables
