import pytest
import torch

from tamis.neural import compiled, training
from tamis.neural.analytic import layer_gradient
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Objective, Term, reconstruction, smoothness
from tamis.neural.schedules import linear
from tamis.neural.seen_rows import SeenRows
from tamis.neural.training import Settings, refit_decoder, train

PLAIN = Objective({"reconstruction": Term(reconstruction)})


@pytest.fixture
def rows(table_rows):
    """One column and three multiples of it, and a column on its own."""
    base = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    return table_rows(torch.stack([base[:, 0], -base[:, 0], base[:, 1], base[:, 0], base[:, 0]], dim=1))


def settings(**changes):
    return Settings(**({"epochs": 5, "batch_size": 15, "temperature": linear(5, 0.1), "selector_lr": 0.1,
                        "decoder_lr": 0.01} | changes))  # fmt: skip


def network(n_restarts=2, n_units=1):
    return SelectorNetwork(ConcreteLayer(n_restarts, n_units, 5), (6,), generator=torch.Generator().manual_seed(1))


def generator():
    return torch.Generator().manual_seed(3)


def test_training_lowers_the_objective_and_reports_every_epoch(rows):
    told = []
    net = network()
    history = train(net, PLAIN, rows, settings(epochs=150, batch_size=40), generator(), told.append)
    assert told == history
    assert [epoch.number for epoch in history] == list(range(1, 151))
    assert history[-1].temperature == pytest.approx(0.1)
    assert history[0].objective.shape == (2,)
    objectives = torch.stack([epoch.objective for epoch in history])  # of one noisy sample each, so compare several
    assert (objectives[-20:].median(dim=0).values < objectives[:5].median(dim=0).values).all()
    assert (net.layer.logits.argmax(dim=-1) != 2).all()  # the column that explains only itself
    torch.testing.assert_close(history[3].terms["reconstruction"].log(), history[3].objective, atol=0.3, rtol=0)


def test_a_callback_can_stop(rows):
    assert len(train(network(), PLAIN, rows, settings(), generator(), lambda epoch: epoch.number == 2)) == 2


def test_a_generator_makes_training_repeatable(rows):
    first, second = network(), network()
    train(first, PLAIN, rows, settings(), generator())
    torch.manual_seed(99)
    train(second, PLAIN, rows, settings(), generator())
    torch.testing.assert_close(first.layer.logits, second.layer.logits, rtol=0, atol=0)


def test_no_epochs_leave_the_network_alone(rows):
    assert train(network(), PLAIN, rows, settings(epochs=0), generator()) == []


def test_narrowing_leaves_the_wanted_columns(rows):
    net = network(n_restarts=1)
    narrow = settings(epochs=30, narrowing=Narrowing(start=0.3, end=0.6, per_unit=2))
    train(net, PLAIN, rows, narrow, generator())
    assert net.layer.logits.shape == (1, 1, 2)
    assert 2 not in net.layer.candidates  # the column that explains only itself


def test_a_decoder_is_not_trained_where_no_term_needs_it(rows):
    net = network()
    before = net.decoder.weights[0].clone()
    train(net, Objective({"score": Term(smoothness, maximise=True)}), rows, settings(), generator())
    torch.testing.assert_close(net.decoder.weights[0], before)


def test_the_refitted_decoder_gives_all_columns(rows):
    decoder = refit_decoder(network(), torch.tensor([0]), rows, 15, index=1)
    decoded = decoder(rows.table[:, :1][None])[0]
    errors = (decoded - rows.table).square().mean(dim=0)
    assert (errors[[0, 1, 3, 4]] < 0.05).all()
    assert errors[2] > 0.5


@pytest.mark.parametrize("batch_size", [15, 40])
def test_history_holds_J_of_the_means_over_batches(rows, batch_size):
    """Of weights that change during training, J takes the last, so that epochs can be compared."""
    falling = Objective({"reconstruction": Term(reconstruction, weight=linear(5.0, 2.0))})
    for epoch in train(network(), falling, rows, settings(epochs=3, batch_size=batch_size), generator()):
        torch.testing.assert_close(epoch.objective, 2 * epoch.terms["reconstruction"].log())


@pytest.mark.parametrize("covered", [True, False])
def test_the_written_out_gradient_is_used_where_it_can(rows, covered, default_objective, monkeypatch):
    used = []

    def spy(*arguments):
        used.append(1)
        return layer_gradient(*arguments)

    monkeypatch.setattr(training, "layer_gradient", spy)
    monkeypatch.setattr(compiled, "_graph_step", None)
    train(network(n_units=2), default_objective if covered else PLAIN, rows, settings(), generator())
    assert len(used) == (15 if covered else 0)


def test_both_paths_train_alike(rows, default_objective, monkeypatch):
    first, second = network(n_units=2), network(n_units=2)
    written = train(first, default_objective, rows, settings(epochs=4), generator())
    monkeypatch.setattr(training, "covers", lambda *_: False)
    recorded = train(second, default_objective, rows, settings(epochs=4), generator())
    torch.testing.assert_close(first.layer.logits, second.layer.logits, rtol=1e-3, atol=1e-3)
    for one, other in zip(written, recorded, strict=True):
        torch.testing.assert_close(one.objective, other.objective, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("looked_at", [True, False], ids=["all rows at once", "batch by batch"])
def test_small_tables_are_looked_at_once(rows, looked_at, default_objective, monkeypatch):
    rows.whole = rows.table if looked_at else None
    made = []
    monkeypatch.setattr(training, "SeenRows", lambda *arguments: made.append(1) or SeenRows(*arguments))
    train(network(n_units=2), default_objective, rows, settings(), generator())
    assert len(made) == looked_at


def test_rows_looked_at_once_train_like_batches(rows, default_objective):
    nets = [network(n_units=2), network(n_units=2)]
    train(nets[0], default_objective, rows, settings(), generator())
    rows.whole = rows.table
    train(nets[1], default_objective, rows, settings(), generator())
    torch.testing.assert_close(nets[0].layer.logits, nets[1].layer.logits, rtol=1e-4, atol=1e-5)
