from .agreement import kappa as kappa, multitrait_multimethod as multitrait_multimethod
from .crossed import (
    crossed_mean as crossed_mean,
    crossed_spread as crossed_spread,
    random_facets as random_facets,
)
from .drift import (
    drift_evidence as drift_evidence,
    drift_scores as drift_scores,
    drift_start as drift_start,
    runs_needed as runs_needed,
)
from .estimate import TEST_RESULTS as TEST_RESULTS, Estimate as Estimate
from .families import (
    adjust as adjust,
    equivalence_test as equivalence_test,
    selection_interval as selection_interval,
    shrink_estimates as shrink_estimates,
    standard_errors as standard_errors,
)
from .inference import (
    CONFIDENCE as CONFIDENCE,
    InferenceSettings as InferenceSettings,
    alpha as alpha,
    exact_p as exact_p,
    is_significant as is_significant,
    null_range as null_range,
    permutation_p as permutation_p,
    permute_units as permute_units,
)
from .intervals import (
    ONE_CLUSTER as ONE_CLUSTER,
    ONE_VALUE as ONE_VALUE,
    clustered_mean as clustered_mean,
    clustered_share as clustered_share,
    equal_weights as equal_weights,
    mean_interval as mean_interval,
    one_sample as one_sample,
    paired_difference as paired_difference,
    proportion_interval as proportion_interval,
    share_interval as share_interval,
    sparse_mean as sparse_mean,
    two_sample as two_sample,
    two_shares as two_shares,
    wilson as wilson,
)
from .known_errors import (
    ErrorRates as ErrorRates,
    correct_difference as correct_difference,
    correct_share as correct_share,
    estimate_error_rates as estimate_error_rates,
    worst_case as worst_case,
)
from .models import mixed_model as mixed_model
from .noninferiority import (
    PairedMeans as PairedMeans,
    noninferiority_n as noninferiority_n,
    noninferiority_power as noninferiority_power,
    noninferiority_test as noninferiority_test,
    one_sided_tests as one_sided_tests,
    paired_change as paired_change,
    paired_shares as paired_shares,
    smallest_sufficient as smallest_sufficient,
    tango_interval as tango_interval,
    tango_score as tango_score,
    tango_tests as tango_tests,
)
from .pooling import (
    pooled_difference as pooled_difference,
    pooled_mean as pooled_mean,
    pooled_share as pooled_share,
)
from .scorer_bias import (
    CORRECTED as CORRECTED,
    PARTS as PARTS,
    SCORER_BIAS as SCORER_BIAS,
    decompose as decompose,
    estimate_swap_effects as estimate_swap_effects,
    scorer_bias as scorer_bias,
)
from .tipping import (
    recall_tipping_point as recall_tipping_point,
    subtract_rates as subtract_rates,
    verdict_tipping_points as verdict_tipping_points,
)
from .two_phase import (
    active_share as active_share,
    draw_round as draw_round,
    label_probability as label_probability,
    labelled_shares as labelled_shares,
    summarize_labels as summarize_labels,
    two_phase as two_phase,
)
from .variance import (
    anova as anova,
    group_means as group_means,
    mean_of_means as mean_of_means,
    pairwise_distances as pairwise_distances,
    spread_ratio as spread_ratio,
)
