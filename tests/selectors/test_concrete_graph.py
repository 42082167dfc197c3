import numpy as np
import pytest

from tamis import LSCAE, ConcreteLaplacian
from tamis.synthetic import blobs_with_copies


@pytest.mark.parametrize(
    "parameters",
    [
        {"graph_on": "concrete"},
        {"diffusion_steps": 3},
        {"diffusion_steps": (2, 16)},
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


@pytest.mark.parametrize("selector", [LSCAE, ConcreteLaplacian])
def test_the_diffusion_time_follows_the_number_of_columns(selector, blobs, quick):
    steps = [selector(k, diffusion_steps="auto", **quick).fit(blobs.X).diffusion_steps_ for k in (1, 2, 8)]
    assert steps[0] >= steps[1] >= steps[2]
    assert steps[0] > steps[2]
    assert selector(2, diffusion_steps=(2, 16), **quick).fit(blobs.X).diffusion_steps_ == 16


def test_one_step_is_enough_where_the_score_is_not_alone(blobs, quick):
    assert LSCAE(1, **quick).fit(blobs.X).diffusion_steps_ == 1
    assert ConcreteLaplacian(1, **quick).fit(blobs.X).diffusion_steps_ > 1


@pytest.mark.parametrize(
    ("selector", "options"), [(LSCAE, {}), (ConcreteLaplacian, {}), (LSCAE, {"decoder": "network"})], ids=str
)
def test_screening_leaves_few_columns_for_each_unit(selector, options, quick):
    table = blobs_with_copies(100, seed=0, n_samples=90)
    quick |= {"narrowing": False, "must_keep": [110], "never": [0]} | options
    wanted = [
        (selector(3, screening=screening, **quick).fit(table.X).selection_probs_[1:] > 0).any(axis=0)
        for screening in (False, True)
    ]
    assert np.flatnonzero(~wanted[0]).tolist() == [0, 110]
    assert wanted[1].sum() == 16
    assert not wanted[1][[0, 110]].any()


@pytest.mark.parametrize(
    "parameters",
    [
        {"decoder": "network"},
        {"weighted_reconstruction": False},
        {"balance": "error"},
        {"reconstruction_warmup": 0.0},
        {"score_weight": (1.0, 1.0)},
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
        (
            {"diffusion_steps": 0},
            "'diffusion_steps' parameter of LSCAE must be a str among {'auto'}, an int in the range",
        ),
        ({"diffusion_steps": (1, 2.5)}, r"diffusion_steps takes \(start, end\), two positive numbers; got \(1, 2\.5\)"),
        ({"bandwidth": "median"}, "'bandwidth' parameter of LSCAE must be a str among"),
        ({"bandwidth": ("mean", -1)}, r"bandwidth takes a rule \('nearest', 'mean'\), a pair.*got \('mean', -1\)"),
        ({"bandwidth": ("median", 1)}, "bandwidth takes a rule"),
        ({"score_weight": (1.0,)}, r"score_weight takes \(start, end\), two numbers of at least 0; got \(1\.0,\)"),
        ({"score_weight": (1.0, -1)}, "score_weight takes"),
        ({"decoder": "mlp"}, "'decoder' parameter of LSCAE must be a str among"),
        ({"screening": "yes"}, "'screening' parameter of LSCAE must be an instance of 'bool'"),
        ({"balance": "log"}, "'balance' parameter of LSCAE must be a str among"),
        ({"reconstruction_warmup": 2}, "'reconstruction_warmup' parameter of LSCAE must be a float in the range"),
    ],
)
def test_bad_parameters_get_a_sentence(blobs, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LSCAE(2, **parameters).fit(blobs.X)
