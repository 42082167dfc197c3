import pytest
import torch

from tamis.neural import training
from tamis.neural.analytic import layer_gradient
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Objective, Term, reconstruction, smoothness
from tamis.neural.schedules import linear
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
    for epoch in train(network(), PLAIN, rows, settings(epochs=3, batch_size=batch_size), generator()):
        torch.testing.assert_close(epoch.objective, epoch.terms["reconstruction"].log())


@pytest.mark.parametrize("covered", [True, False])
def test_the_written_out_gradient_is_used_where_it_can(rows, covered, default_objective, monkeypatch):
    used = []

    def spy(*arguments):
        used.append(1)
        return layer_gradient(*arguments)

    monkeypatch.setattr(training, "layer_gradient", spy)
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


def test_one_batch_of_all_rows_is_looked_at_once(rows, default_objective, monkeypatch):
    seen, net = [], network(n_units=2)
    see = net.see
    monkeypatch.setattr(net, "see", lambda x: seen.append(x) or see(x))
    train(net, default_objective, rows, settings(epochs=4, batch_size=40), generator())
    assert len(seen) == 1
    train(net, default_objective, rows, settings(epochs=4), generator())
    assert len(seen) == 1 + 12


def test_a_graph_sees_centred_batches_and_a_network_sees_them_as_they_are(rows, default_objective, monkeypatch):
    rows.table += 3.0
    for objective, level in ((default_objective, 0.0), (PLAIN, 3.0)):
        seen, net = [], network(n_units=2)
        see = net.see
        monkeypatch.setattr(net, "see", lambda x, seen=seen, see=see: seen.append(x.mean()) or see(x))
        train(net, objective, rows, settings(epochs=1, batch_size=40), generator())
        assert seen[0].item() == pytest.approx(level, abs=0.5)


def test_most_steps_end_training_early(rows):
    history = train(network(), PLAIN, rows, settings(epochs=5, most_steps=7), generator())
    assert len(history) == 3  # two passes of three batches, and one batch
    assert history[-1].temperature == pytest.approx(0.1)
