"""Checkpoints: the state of a fit on disk, from which a killed one goes on to the bits it would have had.

A fit is rebuilt as it was begun, from the same seed, and then brought to the saved state: parameters, the optimiser's
memory, candidates left by narrowing, structure memory, generators, and what finished restarts have found. Files hold
tensors and plain values; loading one executes no code of it.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from warnings import warn

import torch
from torch import Tensor, nn

from tamis.io.files import remove_leftovers, replacing
from tamis.neural import ranks
from tamis.neural.adam import Adam
from tamis.neural.network import SelectorNetwork

NAME = "fit.checkpoint"
FORMAT = 1


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; training goes on, and an older one is kept."""


@dataclass
class Keeper:
    """Keeps the state of one fit in a folder; without a folder it does nothing.

    Parameters
    ----------
    folder : Path or None
        Where; it is made if it is missing.
    identity : dict of str
        What makes the fit this one: data, parameters, seed. A checkpoint of another fit is refused.
    seconds : float
        Time between two checkpoints; 0 writes one after every step.
    """

    folder: Path | None = None
    identity: dict[str, str] = field(default_factory=dict)
    seconds: float = 120.0
    groups: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] | None = None
    warned: bool = False

    def __post_init__(self) -> None:
        self.last = time.monotonic()
        if self.folder is not None and ranks.is_first():
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.folder)

    @property
    def path(self) -> Path:
        """The file."""
        assert self.folder is not None
        return self.folder / NAME

    def load(self) -> None:
        """Take up the state in the folder, if there is one; all processes take that of the first."""
        if self.folder is None:
            return
        state = ranks.shared(read(self.path) if ranks.is_first() and self.path.exists() else None)
        if state is None:
            return
        self._check(state["identity"])
        self.groups, self.training = state["groups"], state["training"]
        own = self.groups.pop("generators")[ranks.share()[0]]
        self.groups["generator"] = own["group"]
        if self.training is not None:
            self.training |= {"pass_start": own["pass_start"], "now": own["now"]}

    def with_saved(self, name: str | None) -> "Keeper":
        """Take one entry of the identity from the checkpoint, such as a seed that nobody has chosen."""
        if name is not None and self.folder is not None:
            found = read(self.path)["identity"] if ranks.is_first() and self.path.exists() else self.identity
            self.identity[name] = ranks.shared(found.get(name, self.identity[name]))
        return self

    def _check(self, identity: dict[str, str]) -> None:
        for name in {**identity, **self.identity}:
            if identity.get(name) != self.identity.get(name):
                raise ValueError(
                    f"{self.path} is the checkpoint of another fit: {name} was {identity.get(name)} and is now "
                    f"{self.identity.get(name)}. Name another folder, or delete that file to begin anew."
                )

    @property
    def due(self) -> bool:
        """Whether it is time for the next one; the first process has the watch."""
        return self.folder is not None and ranks.is_first() and time.monotonic() - self.last >= self.seconds

    def save(self, generators: dict[str, Tensor | None]) -> None:
        """Write the state, atomically; a full disk is a warning, and the last good file stays."""
        if self.folder is None:
            return
        everyone = ranks.gathered(generators)
        if ranks.is_first():
            groups = {k: v for k, v in self.groups.items() if k != "generator"} | {"generators": everyone}
            document = {"format": FORMAT, "identity": self.identity, "groups": groups, "training": self.training}
            try:
                with replacing(self.path) as temporary:
                    torch.save(document, temporary)
            except (OSError, RuntimeError) as error:
                self._complain(error)
        self.last = time.monotonic()

    def _complain(self, error: Exception) -> None:
        if not self.warned:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            warn(
                f"{self.path} could not be written ({reason}); training goes on, and if it is killed it resumes from "
                "the last checkpoint that was. Make room there.",
                CheckpointWarning,
                stacklevel=2,
            )
        self.warned = True


def read(path: Path) -> dict[str, Any]:
    """Read a checkpoint; raise ValueError with a sentence if it is none."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is not a checkpoint, or it is damaged. Delete it to begin anew.") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ValueError(f"{path} was written by another version of tamis. Delete it to begin anew.")
    return state


def model_state(network: SelectorNetwork, optimiser: Adam) -> dict[str, Any]:
    """Give everything that training has changed, as plain tensors."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    return {
        "network": {name: value.detach().cpu().clone() for name, value in network.state_dict().items()},
        "moments": {names[id(p)]: [m.cpu().clone() for m in pair] for p, pair in optimiser.moments.items()},
        "adam_steps": optimiser.steps,
    }


@torch.no_grad()
def restore_model(network: SelectorNetwork, optimiser: Adam, state: dict[str, Any]) -> None:
    """Bring a network and its optimiser, just made, to a saved state."""
    kept = state["network"]["layer.candidates"].to(network.layer.candidates.device)
    if len(kept) < len(network.layer.candidates):
        positions = torch.isin(network.layer.candidates, kept).nonzero().flatten()
        for before, after in network.layer.keep_candidates(positions):
            optimiser.replace(before, after, positions)
    network.load_state_dict(state["network"])
    parameters: dict[str, nn.Parameter] = dict(network.named_parameters())
    for name, pair in state["moments"].items():
        for own, saved in zip(optimiser.moments[parameters[name]], pair, strict=True):
            own.copy_(saved)
    optimiser.steps = state["adam_steps"]


def state_of(generator: torch.Generator | None) -> Tensor | None:
    """Give the state of a generator."""
    return None if generator is None else generator.get_state()
