"""The network in training: the concrete layer, the decoder behind it, and Adam, one step after another."""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from tamis.lscae import parallel
from tamis.lscae.decoder import Decoder
from tamis.lscae.objective import View, evaluate, loss
from tamis.lscae.problem import NOISE, Batch, Problem
from tamis.lscae.recipe import Recipe


def features_of(groups: Tensor, members: Tensor) -> Tensor:
    """Return the features of some groups, group by group."""
    return members[groups][members[groups] >= 0]


def give_to_units(items: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Return one of the items, which are some of the candidates, for each unit: the surest unit chooses first.

    Ties go by position.
    """
    items = items.sort().values
    wanted = probabilities[:, torch.searchsorted(candidates, items)]
    picks = torch.zeros(len(wanted), dtype=torch.long)
    if not len(wanted):  # and perhaps nothing to choose from
        return items[picks]
    for unit in wanted.amax(dim=-1).argsort(descending=True, stable=True).tolist():
        picks[unit] = wanted[unit].argmax()
        wanted[:, picks[unit]] = -1.0
    return items[picks]


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

    Each unit makes a relaxed choice of one feature. A sample is ``Z = softmax((Λ + G)/τ)`` over the candidates, with
    logits Λ, zero at first, and Gumbel noise G; the temperature τ is applied once. As τ falls, each row of Z tends to a
    one-hot vector drawn with probabilities ``softmax(Λ)``.

    Parameters
    ----------
    problem : Problem
        What is to be chosen.
    recipe : Recipe
        How.
    restart : int
        Number of the restart, which decides on the random numbers.

    Attributes
    ----------
    logits : Parameter (units, candidates)
        Λ.
    shown : Tensor of int
        The features that may be shown: the kept ones, then the candidates.
    temperature : float
        τ of the last step.
    """

    def __init__(self, problem: Problem, recipe: Recipe, restart: int):
        super().__init__()
        self.problem, self.recipe, self.restart = problem, recipe, restart
        device, members = problem.rows.device, problem.members
        self.logits = nn.Parameter(torch.zeros(problem.n_units, len(problem.candidates), device=device))
        items = torch.cat([problem.kept, problem.candidates])
        self.shown = items if members is None else features_of(items, members)
        # Without kept features and groups, candidates are in the order of the rows.
        self._shows_all = members is None and not len(problem.kept) and len(items) == len(problem.features)
        self._sizes = None if members is None else (members[items] >= 0).sum(dim=1)
        self.temperature, self.decoder = recipe.temperature[0], None
        if recipe.uses_network:
            generator = torch.Generator(device).manual_seed(problem.seed + restart)
            n_targets = problem.targets.count(len(problem.features))
            sizes = (problem.n_units + len(problem.kept), *recipe.hidden_units, n_targets)
            self.decoder = Decoder(sizes, generator)
        names = [name for name, _ in self.named_parameters()]
        self.optimiser = Adam({name: recipe.selector_lr if name == "logits" else recipe.decoder_lr for name in names})
        self._batch: tuple[Tensor, Batch] | None = None

    def step(self, x: Tensor, number: int, progress: float) -> dict[str, Tensor]:
        """Train on one batch at a progress from 0 to 1; return the values of the terms.

        The temperature falls in equal differences or in equal ratios. The noise is ``−log E`` with E exponential.
        """
        problem, (start, end) = self.problem, self.recipe.temperature
        linear, ratio = start + (end - start) * progress, (end / start) ** progress
        self.temperature = linear if self.recipe.annealing == "linear" else float(start * ratio)
        rng = np.random.default_rng((problem.seed, NOISE, self.restart, number))
        drawn = torch.from_numpy(rng.standard_exponential(self.logits.shape, dtype=np.float32)).to(x.device)
        # One draw in some millions is 0, whose logarithm is not finite.
        noise = drawn.clamp_min_(torch.finfo(torch.float32).tiny).log_().neg_()
        values = evaluate(self.view(x, noise))
        loss(values, self.recipe, parallel.mean if problem.shared else None).backward()
        parameters = dict(self.named_parameters())
        if problem.shared:
            for parameter in parameters.values():
                parameter.grad = None if parameter.grad is None else parallel.mean(parameter.grad)
        self.optimiser.step(parameters)
        return {name: value.detach() for name, value in values.items()}

    def view(self, x: Tensor, noise: Tensor) -> View:
        """Return a batch as one noisy sample of the units shows it: ``C = X Zᵀ``, or gates ``g_j = max_i Z_ij``.

        Kept features come first, and their gates are open.
        """
        if self._batch is None or self._batch[0] is not x:  # one batch may be all rows, every time
            batch = self.problem.targets.batch(x, center=not self.recipe.uses_codes)
            if not self._shows_all:
                known = None if batch.known is None else batch.known[:, self.shown]
                batch = batch._replace(x=batch.x[:, self.shown], known=known)
            self._batch = (x, batch)
        recipe, batch, n_kept = self.recipe, self._batch[1], len(self.problem.kept)
        weights = torch.softmax((self.logits + noise) / self.temperature, dim=-1)
        view, by_gates = View(batch, recipe, None), recipe.graph_on == "gates"
        if by_gates:
            gates = torch.cat([weights.new_ones(n_kept), weights.amax(dim=0)])
            gates = gates if self._sizes is None else gates.repeat_interleave(self._sizes)
        if recipe.uses_codes:
            codes = torch.cat([batch.x[:, :n_kept], batch.x[:, n_kept:] @ weights.mT], dim=-1)
        if by_gates and batch.known is not None:
            view.observed = (batch.x * gates, batch.known * gates.square())
        if self.decoder is not None:
            view.decoded = self.decoder.decode(codes, batch.goal, recipe.readout == "solved")
        if recipe.redundancy_penalty:
            view.probabilities = torch.softmax(self.logits / self.temperature, dim=-1)
        if recipe.uses_graph:
            # With gates, the same as of the gated features, with one product less to differentiate.
            view.gram = (batch.x * gates.square()) @ batch.x.mT if by_gates else codes @ codes.mT
        if recipe.decoder == "graph":
            view.linear = (batch.x * gates if by_gates else codes, n_kept + len(weights))
        return view
