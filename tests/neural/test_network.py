import pytest
import torch

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.network import SelectorNetwork, choose_in_turn, distinct_columns, hard_codes
from tamis.neural.objective import GraphRecipe, Objective, Targets, Term, reconstruction, redundancy, smoothness
from tamis.neural.readout import leave_one_out

PLAIN = Objective({"reconstruction": Term(reconstruction)})


def layer(logits, **options):
    logits = torch.as_tensor(logits, dtype=torch.float32)
    n_units = logits.shape[1] + len(options.get("kept", ()))
    made = ConcreteLayer(len(logits), n_units, options.pop("n_features", logits.shape[2]), **options)
    made.logits.data = logits
    return made


def test_units_keep_their_favourites_when_these_differ():
    columns, collisions = distinct_columns(layer([[[0, 5, 0], [5, 0, 0]]]))
    assert columns.tolist() == [[1, 0]]
    assert collisions.tolist() == [0]


def test_the_surer_unit_wins_a_collision_and_the_other_gets_its_next_best():
    columns, collisions = distinct_columns(layer([[[3, 2, 0], [9, 0, 1]], [[9, 0, 1], [3, 2, 0]]]))
    assert columns.tolist() == [[1, 0], [0, 1]]
    assert collisions.tolist() == [1, 1]


def test_equal_units_still_get_distinct_columns():
    columns, collisions = distinct_columns(layer(torch.zeros(1, 4, 4)))
    assert columns.tolist() == [[0, 1, 2, 3]]
    assert collisions.tolist() == [3]


def test_candidates_and_kept_columns_are_mapped():
    columns, _ = distinct_columns(layer([[[0.0, 1.0]]], candidates=torch.tensor([1, 4]), kept=[2, 0], n_features=5))
    assert columns.tolist() == [[2, 0, 4]]


@pytest.mark.parametrize("candidates", [[], [1, 3]])
def test_without_free_units_the_kept_columns_are_all(candidates):
    made = ConcreteLayer(2, 2, 4, candidates=torch.tensor(candidates, dtype=torch.long), kept=[2, 0])
    columns, collisions = distinct_columns(made)
    assert columns.tolist() == [[2, 0], [2, 0]]
    assert collisions.tolist() == [0, 0]


def test_hard_codes():
    x = torch.arange(8.0).reshape(2, 4)
    codes = hard_codes(x, torch.tensor([[3, 0], [1, 2]]))
    assert codes.tolist() == [[[3, 0], [7, 4]], [[1, 2], [5, 6]]]


def noise(network):
    return torch.zeros_like(network.layer.logits)


def test_soft_and_hard_views_agree_when_cold_and_sure():
    network = SelectorNetwork(layer([[[0, 0, 1e6, 0], [1e6, 0, 0, 0]]]), (3,))
    x = torch.randn(5, 4)
    soft = network.soft_view(network.see(x), PLAIN, 0.01, noise(network))
    hard = network.hard_view(x, PLAIN, torch.tensor([[2, 0]]))
    torch.testing.assert_close(soft.codes, hard.codes)
    torch.testing.assert_close(soft.gram, hard.gram)
    torch.testing.assert_close(hard.decoded, leave_one_out(network.decoder.hidden(hard.codes), x))


def test_targets_are_what_is_reconstructed():
    network = SelectorNetwork(layer(torch.zeros(1, 2, 4)), (3,), Targets(torch.tensor([3, 1])))
    x = torch.randn(5, 4)
    view = network.soft_view(network.see(x), PLAIN, 1.0, noise(network))
    torch.testing.assert_close(view.goal, x[:, [3, 1]])
    assert view.decoded.shape == (1, 5, 2)
    assert network.hard_view(x, PLAIN, torch.tensor([[2, 0]])).decoded.shape == (1, 5, 2)


def test_combinations_of_features_are_reconstructed():
    loadings = torch.tensor([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])
    network = SelectorNetwork(layer(torch.zeros(1, 2, 4)), (3,), Targets(torch.tensor([3, 1]), loadings))
    x = torch.randn(5, 4)
    hard = network.hard_view(x, PLAIN, torch.tensor([[2, 0]]))
    torch.testing.assert_close(hard.goal, x[:, [3, 1]] @ loadings)
    assert hard.decoded.shape == (1, 5, 3)


def test_what_no_term_needs_is_not_computed():
    network = SelectorNetwork(layer(torch.zeros(1, 2, 4)), (3,))
    x = torch.randn(5, 4)
    assert network.soft_view(network.see(x), PLAIN, 1.0, noise(network)).probabilities is None
    penalised = Objective({"redundancy": Term(redundancy, balanced=False)})
    view = network.soft_view(network.see(x), penalised, 1.0, noise(network))
    assert view.probabilities is not None
    assert view.codes is None
    assert view.decoded is None


def test_a_graph_that_decodes_leaves_the_network_idle():
    network = SelectorNetwork(layer(torch.zeros(1, 2, 4)), (3,))
    objective = Objective({"reconstruction": Term(reconstruction)}, GraphRecipe(decodes=True))
    x = torch.randn(5, 4)
    soft = network.soft_view(network.see(x), objective, 1.0, noise(network))
    assert soft.codes is soft.decoded is None
    assert reconstruction(soft).shape == (1,)
    hard = network.hard_view(x, objective, torch.tensor([[2, 0]]))
    assert hard.decoded is None
    torch.testing.assert_close(hard.codes[0], x[:, [2, 0]])


def test_a_graph_on_the_units_needs_their_codes():
    network = SelectorNetwork(layer(torch.zeros(1, 2, 4)), (3,))
    objective = Objective({"score": Term(smoothness, maximise=True)}, GraphRecipe(on="concrete"))
    view = network.soft_view(network.see(torch.randn(5, 4)), objective, 1.0, noise(network))
    torch.testing.assert_close(view.gram, view.codes @ view.codes.mT)


def test_units_choose_in_turn():
    assert choose_in_turn(torch.tensor([[0.6, 0.4], [0.9, 0.1]])).tolist() == [1, 0]
    assert choose_in_turn(torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])).tolist() == [0, 1]
