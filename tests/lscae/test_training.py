import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tamis.lscae import training
from tamis.lscae.recipe import DEFAULT
from tamis.lscae.training import train

CAE = replace(DEFAULT, terms=("reconstruction",), decoder="network", hidden_units=(6,), redundancy_penalty=0.0,
              temperature=(5.0, 0.1), selector_lr=0.1, decoder_lr=0.01, batch_size=15, max_epochs=5)  # fmt: skip


def run(problem, recipe=CAE, callback=lambda epoch: None, restart=0):
    return train(problem, recipe, restart, [callback])


def test_training_lowers_the_objective_and_reports_every_epoch(problem_of, multiples):
    told = []
    network, history, stopped = run(problem_of(multiples, 1), replace(CAE, max_epochs=150, batch_size=40), told.append)
    assert not stopped
    assert [row["epoch"] for row in history] == [epoch.number for epoch in told] == list(range(1, 151))
    assert {epoch.total for epoch in told} == {150}
    assert told[-1].temperature == pytest.approx(0.1)
    objectives = torch.tensor([epoch.objective for epoch in told])  # of one noisy sample each, so compare several
    assert objectives[-20:].median() < objectives[:5].median()
    assert network.logits.argmax() != 2  # the feature that explains only itself


@pytest.mark.parametrize("batch_size", [15, 40])
def test_history_holds_J_of_the_means_over_batches(problem_of, multiples, batch_size):
    _, history, _ = run(problem_of(multiples, 1), replace(CAE, batch_size=batch_size))
    for row in history:
        assert row["objective"] == pytest.approx(math.log(row["reconstruction"]))
        assert 0 < row["peak_probability"] <= 1


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_a_callback_can_stop(problem_of, multiples, kind):
    _, history, stopped = run(problem_of(multiples, 1), callback=lambda epoch: kind(epoch.number == 2))
    assert stopped
    assert len(history) == 2


def test_the_seed_makes_training_repeatable_and_restarts_differ(problem_of, multiples):
    def logits(**options):
        return run(problem_of(multiples, 1), **options)[0].logits

    first = logits()
    torch.manual_seed(99)
    torch.testing.assert_close(logits(), first, rtol=0, atol=0)
    assert not torch.equal(logits(restart=1), first)


def test_later_restarts_count_on(problem_of, multiples):
    told = []
    run(problem_of(multiples, 1), replace(CAE, n_init=3), told.append, restart=1)
    assert [epoch.number for epoch in told] == [6, 7, 8, 9, 10]
    assert {epoch.total for epoch in told} == {15}


@pytest.mark.parametrize(
    ("changes", "n_units", "n_steps"),
    [
        ({"max_epochs": 5}, 1, 15),
        ({"max_epochs": None, "n_steps": 7}, 1, 9),
        ({"max_epochs": None, "n_steps": 7, "batch_size": 40}, 1, 7),
        ({"max_epochs": None, "n_steps": 2, "batch_size": 4}, 1, 6),
        ({"max_epochs": 5}, 0, 0),
    ],
    ids=["passes", "whole passes", "one batch", "a part of one long pass", "nothing to learn"],
)
def test_training_makes_the_steps_of_the_recipe(problem_of, multiples, changes, n_units, n_steps):
    network, _, _ = run(problem_of(multiples, n_units), replace(CAE, **changes))
    assert network.optimiser.steps == n_steps


def test_long_passes_are_reported_in_parts(problem_of, multiples, monkeypatch):
    monkeypatch.setattr(training, "MAX_BATCHES", 2)
    told = []
    run(problem_of(multiples, 1), callback=told.append)
    assert [epoch.number for epoch in told] == list(range(1, 11))
    assert {epoch.total for epoch in told} == {10}
