"""All cases of the corpus."""

from cells import KINDS, NUMBERS
from formats import FORMATS
from gaps import GAPS
from layouts import LAYOUTS
from messy_files import Case

CASES: dict[str, Case] = {**NUMBERS, **KINDS, **GAPS, **LAYOUTS, **FORMATS}
