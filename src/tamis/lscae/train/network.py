"""The network in training: layer, decoder and optimiser, one step after another."""

from torch import Tensor, nn

from tamis.lscae import distributed
from tamis.lscae.model.decoder import Decoder
from tamis.lscae.model.layer import ConcreteLayer
from tamis.lscae.objective.terms import View, evaluate, loss
from tamis.lscae.problem import Batch, Problem
from tamis.lscae.recipe import Recipe
from tamis.lscae.train.adam import Adam


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
        generator = problem.generator(restart)
        layer = ConcreteLayer(problem.n_units, problem.candidates, problem.kept, problem.members)
        self.layer = layer.to(problem.rows.device)
        sizes = (
            problem.n_units + len(problem.kept),
            *recipe.hidden_units,
            problem.targets.count(len(problem.features)),
        )
        self.decoder = Decoder(sizes, generator) if recipe.uses_network else None
        rates = {"layer": recipe.selector_lr, "decoder": recipe.decoder_lr}
        self.optimiser = Adam({name: rates[name.split(".")[0]] for name, _ in self.named_parameters()})
        self._batch: tuple[Tensor, Batch] | None = None

    def step(self, x: Tensor, number: int, progress: float) -> dict[str, Tensor]:
        """Train on one batch; return the values of the terms."""
        noise = self.problem.gumbel(self.layer.logits.shape, self.restart, number)
        values = evaluate(self._soft_view(x, temperature(self.recipe, progress), noise))
        loss(values, self.recipe, distributed.mean).backward()
        parameters = dict(self.named_parameters())
        distributed.average(parameter.grad for parameter in parameters.values())
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
