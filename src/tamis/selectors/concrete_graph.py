"""What the concrete selectors with a Laplacian score share: the parameters of the graph."""

from collections.abc import Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from tamis.neural.diffusion import BANDWIDTHS, Graph
from tamis.neural.objective import GraphRecipe, Objective, Term, smoothness
from tamis.neural.training import Callback
from tamis.selectors.concrete import ConcreteSelector


class ConcreteGraphSelector(ConcreteSelector):
    """A concrete selector whose objective holds a diffusion score; see :class:`tamis.LSCAE` for the parameters."""

    _parameter_constraints: ClassVar[dict] = {
        **ConcreteSelector._parameter_constraints,
        "graph_on": [StrOptions({"gates", "concrete"})],
        "diffusion_steps": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [StrOptions(set(BANDWIDTHS)), Interval(Real, 0, None, closed="neither"), tuple, list],
        "self_loops": ["boolean"],
        "normalize_score": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | str | None = None,
        *,
        graph_on: str = "gates",
        diffusion_steps: int = 1,
        bandwidth: str | float | tuple[str, float] = ("mean", 0.05),
        self_loops: bool = False,
        normalize_score: bool = True,
        annealing: str = "linear",
        temperature: tuple[float, float] = (10.0, 0.01),
        redundancy_penalty: float = 1.0,
        indirect_size: int | None = None,
        hidden_units: tuple[int, ...] = (128, 128),
        readout: str = "solved",
        max_epochs: int | None = None,
        batch_size: int = 256,
        selector_lr: float = 0.3,
        decoder_lr: float = 0.003,
        n_init: int = 1,
        narrowing: bool = True,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        device: str = "auto",
        n_jobs: int | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoint_dir: str | PathLike[str] | None = None,
        checkpoint_every: float = 120.0,
        random_state: Any = None,
    ):
        super().__init__(
            n_features_to_select,
            annealing=annealing,
            temperature=temperature,
            redundancy_penalty=redundancy_penalty,
            indirect_size=indirect_size,
            hidden_units=hidden_units,
            readout=readout,
            max_epochs=max_epochs,
            batch_size=batch_size,
            selector_lr=selector_lr,
            decoder_lr=decoder_lr,
            n_init=n_init,
            narrowing=narrowing,
            scale=scale,
            must_keep=must_keep,
            never=never,
            device=device,
            n_jobs=n_jobs,
            callbacks=callbacks,
            checkpoint_dir=checkpoint_dir,
            checkpoint_every=checkpoint_every,
            random_state=random_state,
        )
        self.graph_on = graph_on
        self.diffusion_steps = diffusion_steps
        self.bandwidth = bandwidth
        self.self_loops = self_loops
        self.normalize_score = normalize_score

    def _terms(self) -> dict[str, Term]:
        return {"score": Term(smoothness, maximise=True)}

    def _objective(self) -> Objective:
        steps, decodes = int(self.diffusion_steps), self._graph_decodes()
        recipe = GraphRecipe(self._graph(), self.graph_on, steps, self.normalize_score, decodes)
        return Objective(self._terms() | self._penalty(), recipe)

    def _graph_decodes(self) -> bool:
        """Tell whether the graph is the decoder."""
        return True

    def _graph(self) -> Graph:
        asked: Any = self.bandwidth
        if isinstance(asked, str | Real):
            return Graph(asked if isinstance(asked, str) else float(asked), 1.0, self.self_loops)
        if len(asked) == 2 and asked[0] in BANDWIDTHS and isinstance(asked[1], Real) and float(asked[1]) > 0:
            return Graph(asked[0], float(asked[1]), self.self_loops)
        raise ValueError(
            f"bandwidth takes a rule ({', '.join(map(repr, BANDWIDTHS))}), a pair of a rule and a positive factor, "
            f"or a positive number; got {asked!r}."
        )
