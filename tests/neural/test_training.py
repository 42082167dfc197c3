from itertools import chain

import pytest
import torch

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Objective, Term, reconstruction, smoothness
from tamis.neural.schedules import linear
from tamis.neural.training import Settings, batches, hard_objective, refit_decoder, steps_per_epoch, train

PLAIN = Objective({"reconstruction": Term(reconstruction)})


class Rows:
    """Rows in memory that note which ones were taken."""

    def __init__(self, table):
        self.table, self.n_rows, self.taken = table, len(table), []

    def take(self, rows):
        self.taken.append(list(range(self.n_rows)) if rows is None else rows.tolist())
        return self.table if rows is None else self.table[rows]


@pytest.fixture
def rows():
    """One column and three multiples of it, and a column on its own."""
    base = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    return Rows(torch.stack([base[:, 0], -base[:, 0], base[:, 1], base[:, 0], base[:, 0]], dim=1))


def settings(**changes):
    return Settings(**({"epochs": 5, "batch_size": 15, "temperature": linear(5, 0.1), "selector_lr": 0.1,
                        "decoder_lr": 0.01} | changes))  # fmt: skip


def network(n_restarts=2, n_units=1):
    return SelectorNetwork(ConcreteLayer(n_restarts, n_units, 5), (6,), generator=torch.Generator().manual_seed(1))


def generator():
    return torch.Generator().manual_seed(3)


def test_batches_use_every_row_once_and_differ_by_one_row(rows):
    sizes = [len(x) for x in batches(rows, 15, generator())]
    assert sizes == [14, 13, 13]
    assert sorted(chain(*rows.taken)) == list(range(40))
    assert rows.taken[0] != list(range(14))


def test_few_rows_are_one_batch(rows):
    assert [len(x) for x in batches(rows, 64, None)] == [40]
    assert steps_per_epoch(3, 256) == 1
    assert steps_per_epoch(257, 256) == 2


def test_training_lowers_the_objective_and_reports_every_epoch(rows):
    told = []
    net = network()
    history = train(net, PLAIN, rows, settings(epochs=60), generator(), told.append)
    assert told == history
    assert [epoch.number for epoch in history] == list(range(1, 61))
    assert history[-1].temperature == pytest.approx(0.1)
    assert history[0].objective.shape == (2,)
    assert (history[-1].objective < history[0].objective).all()
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


def test_better_columns_have_a_smaller_objective(rows):
    found = hard_objective(network(), PLAIN, torch.tensor([[0], [2]]), rows, 15, generator())
    assert found[0] < found[1] - 0.5  # column 0 explains four of the five columns, column 2 only itself


def test_the_refitted_decoder_gives_all_columns(rows):
    decoder = refit_decoder(network(), torch.tensor([0]), rows, 15, index=1)
    decoded = decoder(rows.table[:, :1][None])[0]
    errors = (decoded - rows.table).square().mean(dim=0)
    assert (errors[[0, 1, 3, 4]] < 0.05).all()
    assert errors[2] > 0.5


def test_hard_objective_is_a_mean_over_batches(rows):
    score = Objective({"score": Term(smoothness, maximise=True)})
    net, columns = network(), torch.tensor([[0], [2]])
    values = [score(net.hard_view(x, score, columns)).objective for x in batches(rows, 15, generator())]
    torch.testing.assert_close(hard_objective(net, score, columns, rows, 15, generator()), torch.stack(values).mean(0))
