import numpy as np
import pytest

from tamis import LSCAE, ConcreteLaplacian


@pytest.mark.parametrize(
    "parameters",
    [
        {"graph_on": "concrete"},
        {"diffusion_steps": 3},
        {"bandwidth": "nearest"},
        {"bandwidth": "mean"},
        {"bandwidth": ("mean", 0.3)},
        {"bandwidth": 2.5},
        {"self_loops": True},
        {"normalize_score": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("selector", [LSCAE, ConcreteLaplacian])
def test_every_parameter_changes_something(selector, parameters, blobs, quick):
    before = selector(2, **quick).fit(blobs.X)
    after = selector(2, **(quick | parameters)).fit(blobs.X)
    assert not np.array_equal(before.selection_probs_, after.selection_probs_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"decoder": "network"},
        {"structure_first": False},
    ],
    ids=str,
)
def test_every_parameter_of_reconstruction_changes_something(parameters, blobs, quick):
    before = LSCAE(2, **quick).fit(blobs.X)
    after = LSCAE(2, **(quick | parameters)).fit(blobs.X)
    assert not np.array_equal(before.selection_probs_, after.selection_probs_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"graph_on": "columns"}, "'graph_on' parameter of LSCAE must be a str among"),
        ({"diffusion_steps": 0}, "'diffusion_steps' parameter of LSCAE must be an int in the range"),
        ({"diffusion_steps": "auto"}, "'diffusion_steps' parameter of LSCAE must be an int in the range"),
        ({"bandwidth": "median"}, "'bandwidth' parameter of LSCAE must be a str among"),
        ({"bandwidth": ("mean", -1)}, r"bandwidth takes a rule \('nearest', 'mean'\), a pair.*got \('mean', -1\)"),
        ({"bandwidth": ("median", 1)}, "bandwidth takes a rule"),
        ({"decoder": "mlp"}, "'decoder' parameter of LSCAE must be a str among"),
        ({"structure_first": "yes"}, "'structure_first' parameter of LSCAE must be an instance of 'bool'"),
    ],
)
def test_bad_parameters_get_a_sentence(blobs, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LSCAE(2, **parameters).fit(blobs.X)
