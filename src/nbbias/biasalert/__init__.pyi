from . import (
    calibration as calibration,
    checks as checks,
    contracts as contracts,
    corpus as corpus,
    detection as detection,
    detector as detector,
    figures as figures,
    guard as guard,
    inputs as inputs,
    judges as judges,
    knowledge as knowledge,
    levels as levels,
    pairs as pairs,
    params as params,
    sentences as sentences,
    tables as tables,
)
from .detector import Detector as Detector, detect as detect, load_detector as load_detector
from .inputs import check as check
from .measured import Results as Results, measure as measure, score_answers as score_answers
