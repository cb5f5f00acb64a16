from . import (
    calibration as calibration,
    checks as checks,
    contracts as contracts,
    corpus as corpus,
    detection as detection,
    detector as detector,
    figures as figures,
    guard as guard,
    judges as judges,
    knowledge as knowledge,
    levels as levels,
    pairs as pairs,
    params as params,
    sentences as sentences,
    tables as tables,
)
from .detector import Detector as Detector, detect as detect, load_detector as load_detector
from .measured import (
    Results as Results,
    measure as measure,
    read_test as read_test,
    score_answers as score_answers,
)
from .params import check as check
