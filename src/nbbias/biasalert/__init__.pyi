from . import (
    calibration as calibration,
    checks as checks,
    contracts as contracts,
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
    texts as texts,
)
from .detector import Detector as Detector, detect as detect, load_detector as load_detector
from .measured import Results as Results, measure as measure, read_test as read_test
