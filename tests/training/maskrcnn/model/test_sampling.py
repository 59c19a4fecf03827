from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from training.maskrcnn.model.sampling import IGNORED, ignore_crowds, sample


@given(
    st.lists(st.sampled_from([IGNORED, 0, 1, 4]), max_size=60),
    st.integers(1, 40),
    st.integers(0, 9),
)
def test_a_sample_is_as_large_as_it_can_be_and_never_ignored(
    labels: list[int], size: int, seed: int
) -> None:
    tensor = torch.tensor(labels, dtype=torch.int64)
    ((foreground, background),) = sample([tensor], size=size, positive_fraction=0.25, seeds=[seed])
    all_foreground, all_background = (
        sum(label > 0 for label in labels),
        sum(label == 0 for label in labels),
    )
    assert len(foreground) == min(all_foreground, int(size * 0.25))
    assert len(background) == min(all_background, size - len(foreground))
    assert (tensor[foreground] > 0).all()
    assert (tensor[background] == 0).all()
    assert len(set(foreground.tolist())) == len(foreground)


def test_the_same_seed_chooses_the_same_and_another_seed_others() -> None:
    labels = torch.zeros(1000, dtype=torch.int64)
    first, again, other = (
        set(chosen.background.tolist())
        for chosen in sample([labels] * 3, size=20, positive_fraction=0.5, seeds=[1, 1, 2])
    )
    assert first == again != other


def test_one_candidate_more_leaves_most_of_the_choice_alone() -> None:
    shorter, longer = (
        set(chosen.background.tolist())
        for chosen in sample(
            [torch.zeros(n) for n in (200, 201)], size=50, positive_fraction=0.5, seeds=[1, 1]
        )
    )
    assert len(shorter & longer) >= 49


def test_only_background_that_lies_mostly_in_a_crowd_is_ignored() -> None:
    crowds = torch.tensor([[0.0, 0, 10, 10]])
    boxes = torch.tensor(
        [[2.0, 2, 4, 4], [8, 0, 12, 4], [9, 9, 19, 19], [2, 2, 4, 4], [0, 0, 100, 100]]
    )
    labels = torch.tensor([0, 0, 0, 5, 0])
    assert ignore_crowds(labels, boxes, crowds).tolist() == [IGNORED, IGNORED, 0, 5, 0]
    assert ignore_crowds(labels, boxes, torch.zeros((0, 4))) is labels


def test_those_with_the_smallest_keys_are_chosen_foreground_up_to_its_share() -> None:
    labels = torch.tensor([1, 0, 2, IGNORED, 0, 1, 0, 1])
    keys = torch.rand(8, generator=torch.Generator().manual_seed(4))
    (chosen,) = sample([labels], size=4, positive_fraction=0.5, seeds=[4])
    by_key = keys.argsort().tolist()
    assert chosen.foreground.tolist() == [i for i in by_key if labels[i] > 0][:2]
    assert chosen.background.tolist() == [i for i in by_key if labels[i] == 0][:2]
