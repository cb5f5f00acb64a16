"""CoGS: representative and affinity bias (Kumar et al. 2024).

>>> import numpy as np
>>> from nbbias import cogs
>>> round(float(cogs.spread.spread(np.array([0.10, 0.20, 0.15]))), 4)
0.0408
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
