"""Checkpoints: the state of a fit on disk, from which a killed one resumes, with bit-identical results.

Random numbers are a function of seed and step, so that the state is parameters, the optimiser's memory, and what
finished restarts have found. Loading never executes code from the file.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import warn

import torch

from tamis.io.files import remove_leftovers, replacing
from tamis.lscae import parallel
from tamis.lscae.network import Network

NAME = "fit.checkpoint"
FORMAT = 3


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; training goes on, and an older one is kept."""


@dataclass
class Checkpointer:
    """Writes the state of one fit to a folder.

    Parameters
    ----------
    folder : Path
        Where; it is made if it is missing.
    identity : dict of str
        What makes the fit this one: data, parameters, seed. A checkpoint of another fit is refused.
    seconds : float
        Time between two checkpoints; 0 writes one after every step.

    Attributes
    ----------
    finished : list of dict
        What finished restarts have found.
    training : dict or None
        The state of an unfinished restart that :meth:`load` found, until training goes on from it.
    """

    folder: Path
    identity: dict[str, str]
    seconds: float

    def __post_init__(self) -> None:
        self.finished: list[dict[str, Any]] = []
        self.training: dict[str, Any] | None = None
        self._last, self._warned = time.monotonic(), False
        if parallel.is_first():
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.folder)

    def load(self) -> list[dict[str, Any]]:
        """Take up the state in the folder, if there is one, and return what is finished.

        All processes have the state of the first.
        """
        path = self.folder / NAME
        saved = parallel.broadcast(read(path) if parallel.is_first() and path.exists() else None)
        if saved is not None:
            self._check(saved["identity"])
            self.finished, self.training = saved["finished"], saved["training"]
        return self.finished

    def _check(self, identity: dict[str, str]) -> None:
        for name in {**identity, **self.identity}:
            if identity.get(name) != self.identity.get(name):
                raise ValueError(
                    f"{self.folder / NAME} is the checkpoint of another fit: {name} was {identity.get(name)} and is "
                    f"now {self.identity.get(name)}. Name another folder, or delete that file to begin anew."
                )

    @property
    def due(self) -> bool:
        """Whether it is time for the next one; the first process keeps the time."""
        return parallel.is_first() and time.monotonic() - self._last >= self.seconds

    def save(self, training: dict[str, Any] | None = None) -> None:
        """Write what is finished and what is in training, atomically; a full disk is a warning."""
        if parallel.is_first():
            state = {"finished": self.finished, "training": training}
            try:
                with replacing(self.folder / NAME) as temporary:
                    torch.save({"format": FORMAT, "identity": self.identity, **state}, temporary)
            except (OSError, RuntimeError) as error:
                self._warn(error)
        self._last = time.monotonic()

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            warn(
                f"{self.folder / NAME} could not be written ({reason}); training goes on, and if it is killed it "
                "resumes from the last checkpoint that was. Make room there.",
                CheckpointWarning,
                stacklevel=2,
            )
        self._warned = True


def saved_seed(folder: Path, seed: int) -> int:
    """Return the seed of the checkpoint in a folder, or the given one: a seed that nobody has chosen is kept."""
    return int(read(folder / NAME)["identity"]["seed"]) if (folder / NAME).exists() else seed


def read(path: Path) -> dict[str, Any]:
    """Read a checkpoint; raise ValueError with a sentence if it is none."""
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        if saved["format"] == FORMAT:
            return {part: saved[part] for part in ("identity", "finished", "training")}
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # torch raises OSError over some files that are cut
        raise ValueError(f"{path} is not a checkpoint, or it is damaged. Delete it to begin anew.") from error
    raise ValueError(f"{path} was written by another version of tamis. Delete it to begin anew.")


def network_state(network: Network) -> dict[str, Any]:
    """Return everything that training has changed, as plain tensors."""
    moments = network.optimiser.moments
    return {
        "network": {name: value.detach().cpu().clone() for name, value in network.state_dict().items()},
        "moments": {name: [moment.cpu().clone() for moment in pair] for name, pair in moments.items()},
        "adam_steps": network.optimiser.steps,
    }


@torch.no_grad()
def restore_network(network: Network, state: dict[str, Any]) -> None:
    """Bring a network that was just made to a saved state."""
    network.load_state_dict(state["network"])
    device = network.logits.device
    moments = {name: (mean.to(device), square.to(device)) for name, (mean, square) in state["moments"].items()}
    network.optimiser.moments, network.optimiser.steps = moments, state["adam_steps"]
