"""What selectors share: parameters as fields, whose types carry the values allowed, and the scaling of the table."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Annotated, Any, TypeVar, dataclass_transform

from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base import FeatureSelector, Selection, Task
from tamis.scaling import Array, ScaledTable, scale_table
from tamis.selectors.neighbour_graph import BANDWIDTHS

Selector = TypeVar("Selector", bound=FeatureSelector)

_COUNT = Interval(Integral, 1, None, closed="left")
_BATCH = Interval(Integral, 3, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")

Count = Annotated[int, _COUNT]
OptionalCount = Annotated[int | None, _COUNT, None]
Positive = Annotated[float, _POSITIVE]
NonNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
Bandwidth = Annotated[str | float, StrOptions(set(BANDWIDTHS)), _POSITIVE]
BatchSize = Annotated[int, _BATCH]
OptionalBatchSize = Annotated[int | None, _BATCH, None]
Device = Annotated[str, str]
Scale = Annotated[str | None, StrOptions({"standard", "center"}), None]
Seed = Annotated[Any, "random_state"]


@dataclass_transform(eq_default=False, kw_only_default=True)
def with_parameters(cls: type[Selector]) -> type[Selector]:
    """Make the fields of a class keyword parameters of its constructor, which scikit-learn checks in ``fit``."""
    inherited, cls = cls._parameter_constraints, dataclass(eq=False, repr=False, kw_only=True)(cls)
    own = {field.name: field.type for field in fields(cls) if field.name not in inherited}
    cls._parameter_constraints = inherited | {name: list(kind.__metadata__) for name, kind in own.items()}  # type: ignore[union-attr]
    return cls


@with_parameters
class ScaledSelector(FeatureSelector):
    """A selector that scores the features of a scaled table; those with one value only are not among them."""

    scale: Scale = "standard"

    @abstractmethod
    def _score(self, table: ScaledTable, task: Task) -> Array:
        """Return a score for every feature of the scaled table; large is good."""

    def _select(self, X: Any, task: Task) -> Selection:
        table = scale_table(X, task.statistics, self.scale)
        return Selection(table.expand(self._score(table, task)))
