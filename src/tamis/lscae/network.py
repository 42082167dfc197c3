"""The network in training: the concrete layer, the decoder behind it, and Adam, one step after another."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from tamis.lscae import parallel
from tamis.lscae.decoder import Decoder
from tamis.lscae.objective import View, evaluate, loss
from tamis.lscae.problem import Batch, Problem
from tamis.lscae.recipe import Recipe


class ConcreteLayer(nn.Module):
    """Relaxed choice of one feature per unit.

    A sample is ``Z = softmax((Λ + G)/τ)`` over the candidates, with logits Λ, zero at first, and Gumbel noise G; the
    temperature τ is applied once. As τ falls, each row of Z tends to a one-hot vector drawn with probabilities
    ``softmax(Λ)``.

    Parameters
    ----------
    n_units : int
        Number of units that learn.
    candidates, kept : Tensor of int
        Features that the units may choose from, and features that are always shown.
    members : Tensor of int (groups, width), optional
        Features of each group, filled up with -1; if given, candidates and kept are groups.
    """

    def __init__(self, n_units: int, candidates: Tensor, kept: Tensor, members: Tensor | None = None):
        super().__init__()
        self.members = members
        self.candidates: Tensor
        self.kept: Tensor
        self.register_buffer("candidates", candidates)
        self.register_buffer("kept", kept)
        self.logits = nn.Parameter(torch.zeros(n_units, len(candidates)))

    def probabilities(self, temperature: float = 1.0, noise: Tensor | float = 0.0) -> Tensor:
        """Return ``softmax((Λ + G)/τ)`` (units, candidates): Z for noise G, and without it the noise-free weights.

        Without noise and at τ = 1, it is the chance of each candidate to be shown by each unit.
        """
        return torch.softmax((self.logits + noise) / temperature, dim=-1)

    def shown(self, x: Tensor) -> Tensor:
        """Return the features of a batch that the layer may show: the kept ones, then the candidates."""
        if self.members is None and len(self.candidates) == x.shape[1]:
            return x
        return x[:, features_of(torch.cat([self.kept, self.candidates]), self.members)]

    def codes(self, shown: Tensor, weights: Tensor) -> Tensor:
        """Return what the units show of a batch, ``C = X Zᵀ``, kept features first: (rows, units)."""
        n_kept = len(self.kept)
        return torch.cat([shown[:, :n_kept], shown[:, n_kept:] @ weights.mT], dim=-1)

    def gates(self, weights: Tensor) -> Tensor:
        """Return how openly each shown feature is shown, 1 for kept ones and ``g_j = max_i Z_ij``: (shown,)."""
        gates = torch.cat([weights.new_ones(len(self.kept)), weights.amax(dim=0)])
        if self.members is None:
            return gates
        sizes = (self.members[torch.cat([self.kept, self.candidates])] >= 0).sum(dim=1)
        return gates.repeat_interleave(sizes)


def features_of(items: Tensor, members: Tensor | None) -> Tensor:
    """Return the features of some groups, group by group; the items themselves without groups."""
    return items if members is None else members[items][members[items] >= 0]


def assign_distinct(probabilities: Tensor) -> Tensor:
    """Return a candidate of its own for each unit (units,): the surest unit chooses first, ties by position."""
    wanted = probabilities.clone()
    picks = torch.zeros(len(wanted), dtype=torch.long)
    if not len(wanted):  # and perhaps nothing to choose from
        return picks
    for unit in wanted.amax(dim=-1).argsort(descending=True, stable=True).tolist():
        picks[unit] = wanted[unit].argmax()
        wanted[:, picks[unit]] = -1.0
    return picks


def give_to_units(chosen: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Return chosen features, the kept ones first, each at the place of the unit that wants it most.

    Exchanges may have brought in features that another unit than the one at their place had settled on.
    """
    n_kept = len(chosen) - len(probabilities)
    free = chosen[n_kept:].sort().values
    wanted = probabilities[:, torch.searchsorted(candidates, free)]
    return torch.cat([chosen[:n_kept], free[assign_distinct(wanted)]])


BETAS = (0.9, 0.999)
EPSILON = 1e-8


@dataclass
class Adam:
    """Adam (Kingma and Ba, 2015): ``p ← p − lr · m̂ / (√v̂ + ε)``.

    ``m ← β₁ m + (1 − β₁) g``, ``v ← β₂ v + (1 − β₂) g²``, ``m̂ = m/(1 − β₁ᵗ)``, ``v̂ = v/(1 − β₂ᵗ)``.

    In these few lines, since ``torch.optim`` loads torch's compiler at its first use, about a second in which a user
    waits for the first step.

    Parameters
    ----------
    rates : dict of str to float
        Learning rate of each parameter, by its name.
    steps : int
        Number of steps made.
    moments : dict of str to (Tensor, Tensor)
        m and v of each parameter.
    """

    rates: dict[str, float]
    steps: int = 0
    moments: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    @torch.no_grad()
    def step(self, parameters: dict[str, nn.Parameter]) -> None:
        """Move every parameter that has a gradient, and forget the gradients."""
        self.steps += 1
        first_bias, second_bias = (1 - beta**self.steps for beta in BETAS)
        for name, parameter in parameters.items():
            gradient, parameter.grad = parameter.grad, None
            if gradient is None:
                continue
            mean, square = self.moments.setdefault(name, (torch.zeros_like(parameter), torch.zeros_like(parameter)))
            mean.lerp_(gradient, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            scale = square.sqrt().div_(math.sqrt(second_bias)).add_(EPSILON)
            parameter.addcdiv_(mean, scale, value=-self.rates[name] / first_bias)


class Network(nn.Module):
    """k concrete units in front of a decoder, and the optimiser's memory.

    Parameters
    ----------
    problem : Problem
        What is to be chosen.
    recipe : Recipe
        How.
    restart : int
        Number of the restart, which decides on the random numbers.
    """

    def __init__(self, problem: Problem, recipe: Recipe, restart: int):
        super().__init__()
        self.problem, self.recipe, self.restart = problem, recipe, restart
        layer = ConcreteLayer(problem.n_units, problem.candidates, problem.kept, problem.members)
        self.layer, self.decoder = layer.to(problem.rows.device), None
        if recipe.uses_network:
            generator = torch.Generator(problem.rows.device).manual_seed(problem.seed + restart)
            n_targets = problem.targets.count(len(problem.features))
            sizes = (problem.n_units + len(problem.kept), *recipe.hidden_units, n_targets)
            self.decoder = Decoder(sizes, generator)
        rates = {"layer": recipe.selector_lr, "decoder": recipe.decoder_lr}
        self.optimiser = Adam({name: rates[name.split(".")[0]] for name, _ in self.named_parameters()})
        self._batch: tuple[Tensor, Batch] | None = None

    def step(self, x: Tensor, number: int, progress: float) -> dict[str, Tensor]:
        """Train on one batch; return the values of the terms."""
        noise = self.problem.gumbel(self.layer.logits.shape, self.restart, number)
        values = evaluate(self._soft_view(x, temperature(self.recipe, progress), noise))
        loss(values, self.recipe, parallel.mean).backward()
        parameters = dict(self.named_parameters())
        for parameter in parameters.values():
            parameter.grad = None if parameter.grad is None else parallel.mean(parameter.grad)
        self.optimiser.step(parameters)
        return {name: value.detach() for name, value in values.items()}

    def _soft_view(self, x: Tensor, temperature: float, noise: Tensor) -> View:
        """Return a batch as one noisy sample of the concrete layer shows it."""
        recipe, layer, batch = self.recipe, self.layer, self._prepared(x)
        weights = layer.probabilities(temperature, noise)
        gates = layer.gates(weights) if recipe.graph_on == "gates" else None
        codes = layer.codes(batch.x, weights) if recipe.uses_codes else batch.x
        view = View(
            batch,
            codes if gates is None else batch.x * gates,
            recipe,
            None if gates is None or batch.known is None else batch.known * gates.square(),
            None if self.decoder is None else self.decoder.decode(codes, batch.goal, recipe.readout == "solved"),
            layer.probabilities(temperature) if recipe.redundancy_penalty else None,
        )
        if gates is not None and recipe.uses_graph:
            # The same as of the gated features, with one product less to differentiate.
            view.gram = (batch.x * gates.square()) @ batch.x.mT
        return view

    def _prepared(self, x: Tensor) -> Batch:
        """Return a batch with the features that may be shown only; one batch may be all rows, every time."""
        if self._batch is None or self._batch[0] is not x:
            batch = self.problem.targets.batch(x, center=not self.recipe.uses_codes)
            known = None if batch.known is None else self.layer.shown(batch.known)
            self._batch = (x, batch._replace(x=self.layer.shown(batch.x), known=known))
        return self._batch[1]


def temperature(recipe: Recipe, progress: float) -> float:
    """Return the temperature at a progress from 0 to 1: in equal differences or in equal ratios."""
    start, end = recipe.temperature
    if recipe.annealing == "linear":
        return start + (end - start) * progress
    return float(start * (end / start) ** progress)
