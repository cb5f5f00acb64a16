from . import corpus as corpus, counterfactuals as counterfactuals, sample as sample, split as split
