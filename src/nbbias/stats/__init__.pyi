from .audited import (
    FEWEST as FEWEST,
    instrument_alone as instrument_alone,
    swap_effects as swap_effects,
)
from .chance import (
    blocks as blocks,
    dealt as dealt,
    draws_needed as draws_needed,
    enumerated as enumerated,
    expected_differences as expected_differences,
    permuted as permuted,
    permuted_counts as permuted_counts,
    tail as tail,
    windows as windows,
)
from .changes import (
    gate as gate,
    least as least,
    paired_change as paired_change,
    power as power,
    tango_interval as tango_interval,
    units_needed as units_needed,
)
from .effects import (
    equivalence as equivalence,
    shrunken as shrunken,
    standard_errors as standard_errors,
)
from .estimate import Estimate as Estimate
from .families import adjust as adjust
from .inference import InferenceSettings as InferenceSettings
from .intervals import (
    NO_SPREAD as NO_SPREAD,
    ONE_CLUSTER as ONE_CLUSTER,
    ONE_VALUE as ONE_VALUE,
    cluster_bootstrap as cluster_bootstrap,
    clustered_mean as clustered_mean,
    clustered_share as clustered_share,
    effective_size as effective_size,
    equal_weights as equal_weights,
    mean_interval as mean_interval,
    minimum_detectable_effect as minimum_detectable_effect,
    one_sample as one_sample,
    paired_difference as paired_difference,
    percentile_interval as percentile_interval,
    proportion_interval as proportion_interval,
    rank_correlation as rank_correlation,
    share_interval as share_interval,
    swaps as swaps,
    two_sample as two_sample,
    two_shares as two_shares,
    wilson as wilson,
)
from .kappa import kappa as kappa
from .known_errors import (
    ErrorRates as ErrorRates,
    Errors as Errors,
    corrected_difference as corrected_difference,
    corrected_share as corrected_share,
    error_rates as error_rates,
    rogan_gladen as rogan_gladen,
)
from .models import (
    anova_tukey as anova_tukey,
    mixed_model as mixed_model,
    paired_models as paired_models,
)
from .pooling import (
    pooled_difference as pooled_difference,
    pooled_mean as pooled_mean,
    pooled_share as pooled_share,
)
from .two_phase import two_phase as two_phase
from .variance import (
    anova as anova,
    anova_checks as anova_checks,
    group_means as group_means,
    mean_of_means as mean_of_means,
    repeated_measures as repeated_measures,
    spread_interval as spread_interval,
)
