"""Does a text get its own answer in any company?"""

import pytest
from tests.probes.agreement.examined_alone import broken, finding
from tests.probes.agreement.small_layers import Rotating, attention

torch = pytest.importorskip("torch", reason="needs torch")


class SharedScale(Rotating):
    """Divides by the largest number of the batch."""

    def forward(self, x):
        return super().forward(x / x.abs().max())


class FirstPlacesForAll(Rotating):
    def forward(self, x, position_ids=None):
        places = None if position_ids is None else position_ids[:1].expand(len(x), -1)
        return super().forward(x, position_ids=places)


def other_kernel_for_batches(q, k, v):
    return attention(q * (1 if len(q) == 1 else 1.001), k, v)


def first_mask_for_all(q, k, v, attn_mask=None):
    return attention(q, k, v, attn_mask if attn_mask is None else attn_mask[:1])


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (SharedScale, "leak into one another"),
        (FirstPlacesForAll, "positions of their own"),
        (other_kernel_for_batches, "a text alone"),
        (first_mask_for_all, "masks of their own"),
    ],
)
def test_company_changes_the_answer(layer, said):
    assert said in broken(layer, "batch").evidence


def test_right_layers():
    assert finding(Rotating, "batch").status == "holds"
    assert finding(attention, "batch").status == "holds"
