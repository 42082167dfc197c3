from os import PathLike

from tamis._version import __version__ as __version__
from tamis.base import FeatureSelector
from tamis.displays import CurveDisplay as CurveDisplay
from tamis.displays import SelectionDisplay as SelectionDisplay
from tamis.displays import StructureDisplay as StructureDisplay
from tamis.io.errors import TableError as TableError
from tamis.io.sources import open_source as open_source
from tamis.lscae.recipe import Recipe as Recipe
from tamis.many import fit_many as fit_many
from tamis.progress import ProgressBar as ProgressBar
from tamis.selectors import SELECTORS as SELECTORS
from tamis.selectors.aefs import AEFS as AEFS
from tamis.selectors.cae import CAE as CAE
from tamis.selectors.concrete_laplacian import ConcreteLaplacian as ConcreteLaplacian
from tamis.selectors.dufs import DUFS as DUFS
from tamis.selectors.laplacian_score import LaplacianScore as LaplacianScore
from tamis.selectors.llcfs import LLCFS as LLCFS
from tamis.selectors.lscae import LSCAE as LSCAE
from tamis.selectors.mcfs import MCFS as MCFS
from tamis.selectors.ndfs import NDFS as NDFS
from tamis.selectors.random_subset import RandomSubset as RandomSubset
from tamis.selectors.rsr import RSR as RSR
from tamis.selectors.spec import SPEC as SPEC
from tamis.selectors.srcfs import SRCFS as SRCFS
from tamis.selectors.structure_pursuit import StructurePursuit as StructurePursuit
from tamis.selectors.udfs import UDFS as UDFS
from tamis.selectors.variance import VarianceScore as VarianceScore
from tamis.single_cell import compare_panels as compare_panels
from tamis.single_cell import evaluate_panel as evaluate_panel
from tamis.single_cell import pl as pl
from tamis.single_cell import select_genes as select_genes
from tamis.sizes import choose_k as choose_k
from tamis.structure import find_structure as find_structure

def load(path: str | PathLike[str]) -> FeatureSelector: ...
