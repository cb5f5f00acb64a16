"""Read Jigsaw's comments, the out-of-domain texts of Fan et al. (2024, appendix A.2).

The paper does not say which column is its label. "Biased" is here what Jigsaw's raters called an
attack on an identity, among the comments that name one: toxicity without a group is no bias, and
comments that name nobody would make any judge look good.
"""

from __future__ import annotations

import pandas as pd

from nbbias.contracts import need
from nbbias.corpus import data_path, read_table
from nbbias.errors import DataError

#: Share of raters from which a comment counts as an attack, or as naming an identity.
MAJORITY = 0.5

_ATTACK, _HATE = "identity_attack", "identity_hate"


def read(table: pd.DataFrame, *, where: str = "Jigsaw") -> pd.DataFrame:
    """Turn a table of Jigsaw's into labelled texts.

    Parameters
    ----------
    table
        Of *Unintended Bias in Toxicity Classification* (2019; `train.csv`, `all_data.csv`):
        `comment_text`, `identity_attack` and the identities, each the share of raters that saw it.
        Or of the *Toxic Comment Classification Challenge* (2018): `comment_text` and
        `identity_hate`, 0 or 1 (-1 where it was not scored).
    where
        The table's name, for messages.

    Returns
    -------
    DataFrame
        `text`, `biased`, and of 2019 `bias_type` and `group`: the identity that most raters saw
        (of several alike the first). Of 2019 only comments whose identities were asked for, and
        that name one by at least half of their raters; of 2018 all that were scored.

    Raises
    ------
    ContractError, DataError
        Columns are missing, or no comment is left.

    References
    ----------
    Borkan et al. 2019, *Nuanced Metrics for Measuring Unintended Bias*, WWW companion.
    """
    need(table, ["comment_text"], where=where)
    if _ATTACK not in table and _HATE in table:
        scored = table[table[_HATE].isin([0, 1])]
        found = pd.DataFrame({"text": scored["comment_text"], "biased": scored[_HATE] == 1})
    else:
        known = read_table(data_path("biasalert/jigsaw.csv")).set_index("identity")
        need(table, [_ATTACK], where=where)
        there = [name for name in known.index if name in table]
        if not there:
            raise DataError(
                where, f"has none of Jigsaw's identities ({', '.join(known.index[:3])}, …)"
            )
        shares = table[there].astype(float)
        named = (shares.max(axis=1) >= MAJORITY) & table[_ATTACK].notna()
        most = shares[named].idxmax(axis=1)
        found = pd.DataFrame(
            {
                "text": table.loc[named, "comment_text"],
                "biased": table.loc[named, _ATTACK].astype(float) >= MAJORITY,
                "bias_type": most.map(known["bias_type"]),
                "group": most.map(known["group"]),
            }
        )
    if found.empty:
        raise DataError(where, "holds no comment that names an identity and was scored")
    return found.reset_index(drop=True)
