"""CoGS: representative and affinity bias (Kumar et al. 2024).

>>> import pandas as pd
>>> from nbbias import cogs
>>> cogs.representative_bias_score(pd.Series({"man": 0.10, "woman": 0.20})).identity
'man'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
