import math
from dataclasses import replace

import pytest
import torch

from tamis.lscae.decoder import Decoder
from tamis.lscae.objective import (
    RIDGE,
    TERMS,
    View,
    evaluate,
    linear_residuals,
    loss,
    objective,
    observed_distances,
    reconstruction,
    redundancy,
    score,
)
from tamis.lscae.problem import Batch, Targets
from tamis.lscae.recipe import Recipe


@pytest.fixture
def gates():
    return torch.rand(4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def naive_distance(a, b):
    return sum((p - q) ** 2 for p, q in zip(a.tolist(), b.tolist(), strict=True))


def hard_view(x, recipe):
    """Return the view in which the graph is that of x itself."""
    return View(Batch(x, x), recipe, x @ x.mT)


def test_distances_over_what_both_rows_have_are_scaled_up(x, gates):
    known = (torch.rand(7, 4, generator=torch.Generator().manual_seed(3)) < 0.7).double()
    assert (known @ known.mT > 0).all()
    points, observed = x * gates * known, gates.square() * known
    found = observed_distances(points @ points.mT, points, observed)
    for i in range(6):
        for j in range(6):
            both = [f for f in range(4) if known[i, f] and known[j, f]]
            distance = sum((points[i, f] - points[j, f]).item() ** 2 for f in both)
            scale = gates.square().sum() / sum(gates[f] ** 2 for f in both)
            assert found[i, j].item() == pytest.approx(distance * scale.item(), abs=1e-12)


def test_rows_without_a_common_feature_are_as_far_apart_as_others_on_average(x):
    known = torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1]], dtype=torch.float64)
    points = x[:4] * known
    found = observed_distances(points @ points.mT, points, known)
    compared = (known @ known.mT) > 0
    assert not compared[0, 1]
    assert found[0, 1].item() == pytest.approx(found[compared].mean().item())


def test_bandwidth_rules(x):
    pairs = [[naive_distance(x[i], x[j]) for j in range(7) if j != i] for i in range(7)]
    nearest, mean = max(min(row) for row in pairs), sum(map(sum, pairs)) / 42
    for rule, expected in {
        "nearest": nearest, "mean": mean, ("nearest", 2): 2 * nearest, ("mean", 0.1): 0.1 * mean, 1.5: 2.25,
    }.items():  # fmt: skip
        walk = torch.tensor(naive_walk(x, expected, False, 1), dtype=torch.float64)
        torch.testing.assert_close(hard_view(x, Recipe(bandwidth=rule)).transitions, walk)


def test_several_selections_do_not_mix(x):
    parts = [x[:, :2], x[:, 2:]]
    together = View(Batch(x, x), Recipe(), torch.stack([part @ part.mT for part in parts])).transitions
    for part, walk in zip(parts, together, strict=True):
        torch.testing.assert_close(hard_view(part, Recipe()).transitions, walk)


@pytest.mark.parametrize("self_loops", [True, False])
def test_rows_of_the_walk_sum_to_one_even_for_equal_rows(self_loops):
    walk = hard_view(torch.ones(5, 2), Recipe(bandwidth="nearest", self_loops=self_loops)).transitions
    torch.testing.assert_close(walk.sum(dim=-1), torch.ones(5))
    assert (walk.diagonal() > 0).all() == self_loops


def test_far_away_rows_do_not_give_nan():
    x = torch.tensor([[0.0], [1e-4], [1e4]])
    assert hard_view(x, Recipe(bandwidth=1e-3)).transitions.isfinite().all()


GRAPH = Recipe(bandwidth=("mean", 0.4), redundancy_penalty=0.0)
NETWORK = replace(GRAPH, decoder="network", diffusion_steps=2)
SOME = Targets(torch.tensor([3, 1]))


@pytest.fixture
def x():
    return torch.randn(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def logits():
    return torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()


@pytest.fixture
def decoder():
    return Decoder((3, 5, 4), torch.Generator().manual_seed(2)).double()


def view_of(x, logits, decoder, recipe=NETWORK, targets=Targets(), linear=False):  # noqa: B008 (a named tuple)
    weights = torch.softmax(logits, dim=-1)
    codes = x @ weights.mT
    shown = x * weights.amax(dim=0) if recipe.graph_on == "gates" else codes
    return View(
        targets.batch(x, center=False),
        recipe,
        shown @ shown.mT,
        decoded=decoder(codes) if recipe.uses_network else None,
        linear=(shown, len(logits)) if linear else None,
        probabilities=weights,
    )


def naive_share(goal, decoded):
    pairs = [(a.item(), b.item()) for a, b in zip(goal.ravel(), decoded.ravel(), strict=True)]
    return sum((a - b) ** 2 for a, b in pairs) / sum(a**2 for a, _ in pairs)


def test_reconstruction_by_a_network_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    assert reconstruction(view).item() == pytest.approx(naive_share(x, view.decoded))


@pytest.mark.parametrize("targets", [Targets(), SOME], ids=["all", "some"])
def test_a_graph_decodes_by_one_step_whatever_the_walk(x, logits, decoder, targets):
    view = view_of(x, logits, decoder, replace(GRAPH, diffusion_steps=4), targets)
    goal, walk = view.batch.goal, view.transitions.detach()
    steps = [[sum(walk[i, m] * goal[m, c] for m in range(7)) for c in range(goal.shape[1])] for i in range(7)]
    assert reconstruction(view).item() == pytest.approx(naive_share(goal, torch.tensor(steps)))


def naive_walk(points, variance, self_loops, steps):
    n, squares = len(points), torch.cdist(points, points).square().tolist()
    kernel = [
        [0.0 if i == j and not self_loops else math.exp(-squares[i][j] / (2 * variance)) for j in range(n)]
        for i in range(n)
    ]
    step = [[value / sum(row) for value in row] for row in kernel]
    walk = step
    for _ in range(steps - 1):
        walk = [[sum(walk[i][m] * step[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
    return walk


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_score_agrees_with_loops(x, self_loops, steps):
    recipe = Recipe(bandwidth=1.3, self_loops=self_loops, diffusion_steps=steps)
    walk = naive_walk(x, 1.3**2, self_loops, steps)
    trace = sum(walk[i][j] * x[i, f].item() * x[j, f].item() for f in range(4) for i in range(7) for j in range(7))
    assert score(hard_view(x, recipe)).item() == pytest.approx(trace, rel=1e-9)


def share_by_loops(x, goal, k):
    """Solve the ridge regression anew without each row, and predict that row."""
    error, penalty = 0.0, RIDGE * x.square().sum() / k
    for i in range(len(x)):
        others = torch.arange(len(x)) != i
        C = x[others]
        coefficients = torch.linalg.solve(C.T @ C + penalty * torch.eye(x.shape[1]), C.T @ goal[others])
        error += (goal[i] - x[i] @ coefficients).square().sum().item()
    return error / goal.square().sum().item()


@pytest.mark.parametrize("m", [1, 4, 6, 7, 9, 30], ids="{} features of 7 rows".format)
def test_a_linear_map_predicts_each_row_from_the_others(x, m):
    generator = torch.Generator().manual_seed(5)
    features = 0.3 * torch.randn(7, m, dtype=torch.float64, generator=generator)
    residuals = linear_residuals(features, x, 3)
    share = (residuals.square().sum() / x.square().sum()).item()
    assert share == pytest.approx(share_by_loops(features, x, 3))


@pytest.mark.parametrize("m", [3, 9])
def test_gradients_of_what_a_linear_map_leaves(x, m):
    features = torch.randn(7, m, dtype=torch.float64, generator=torch.Generator().manual_seed(5)).requires_grad_()
    assert torch.autograd.gradcheck(lambda codes: linear_residuals(codes, x, 3), features)


@pytest.mark.parametrize("on", ["gates", "concrete"])
def test_beside_the_graph_the_geometric_mean_of_both_decoders_counts(x, logits, decoder, on):
    recipe = replace(GRAPH, graph_on=on)
    by_graph, both = (view_of(x, logits, decoder, recipe, linear=linear) for linear in (False, True))
    linearly = share_by_loops(both.linear[0].detach(), x, 3)
    assert reconstruction(both).item() == pytest.approx(math.sqrt(reconstruction(by_graph).item() * linearly))


def test_redundancy_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    sums = [sum(view.probabilities[i, j].item() for i in range(3)) for j in range(4)]
    assert redundancy(view).item() == pytest.approx(max(0.0, max(sums) - 1))
    assert redundancy(view_of(x, 100 * torch.eye(4, dtype=torch.float64)[:3], decoder)).item() == pytest.approx(0)
    assert redundancy(hard_view(x, GRAPH)).item() == 0  # of a hard selection


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("on", ["gates", "concrete"])
@pytest.mark.parametrize("recipe", [GRAPH, NETWORK], ids=["graph", "network"])
@pytest.mark.parametrize("bandwidth", [("mean", 0.4), ("nearest", 2.0), 1.3], ids=str)
def test_gradients_of_the_terms(x, logits, decoder, term, on, recipe, bandwidth):
    targets = Targets() if recipe.uses_network else SOME
    recipe = replace(recipe, graph_on=on, bandwidth=bandwidth)
    linear = not recipe.uses_network
    assert torch.autograd.gradcheck(
        lambda values: TERMS[term].value(view_of(x, values, decoder, recipe, targets, linear)), logits
    )


@pytest.mark.parametrize("recipe", [NETWORK, GRAPH], ids=["network", "graph"])
def test_the_gradient_of_the_loss_is_that_of_J(x, logits, decoder, recipe):
    values = evaluate(view_of(x, logits, decoder, recipe))
    assert values["score"] > 0
    balanced, J = loss(values, recipe), objective(values)
    assert balanced.item() == pytest.approx(0)
    assert J.item() == pytest.approx((values["reconstruction"].log() - values["score"].log()).item())
    gradients = [torch.autograd.grad(value, logits, retain_graph=True)[0] for value in (balanced, J)]
    torch.testing.assert_close(*gradients)


def test_processes_share_the_magnitude_of_a_term():
    values = {"reconstruction": torch.tensor(0.5)}
    assert loss(values, GRAPH, lambda _: torch.tensor(2.0)).item() == 0.25


def test_a_penalty_enters_the_loss_with_its_weight_and_J_not_at_all(x, logits, decoder):
    recipe = replace(GRAPH, redundancy_penalty=5.0)
    values = evaluate(view_of(x, logits, decoder, recipe))
    assert values.keys() == {"reconstruction", "score", "redundancy"}
    without = {name: value for name, value in values.items() if name != "redundancy"}
    difference = loss(values, recipe) - loss(without, recipe)
    assert difference.item() == pytest.approx(5 * values["redundancy"].item())
    assert objective(values) == objective(without)


def test_a_hard_selection_is_a_view_with_open_gates(x):
    open_gates = x * torch.tensor([1.0, 0, 1, 1], dtype=torch.float64)
    hard, soft = (View(Batch(x, x), GRAPH, shown @ shown.mT) for shown in (x[:, [0, 2, 3]], open_gates))
    torch.testing.assert_close(score(hard), score(soft))
    torch.testing.assert_close(reconstruction(hard), reconstruction(soft))


def test_a_score_below_zero_neither_flips_the_sign_nor_gives_nan(decoder):
    x = torch.tensor([[1.0, -1, 1, -1], [-1, 1, -1, 1]], dtype=torch.float64)
    # A walk that cannot stay takes each of two opposite rows to the other one.
    values = evaluate(view_of(x, torch.zeros(3, 4, dtype=torch.float64), decoder, GRAPH))
    assert values["score"] < 0
    assert objective(values).isfinite()
    assert loss(values, GRAPH).item() == pytest.approx(2)
