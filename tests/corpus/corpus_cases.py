"""All cases of the corpus."""

from cells import GAPS, KINDS, NUMBERS
from formats import FORMATS
from layouts import LAYOUTS
from messy_files import Case

CASES: dict[str, Case] = {**NUMBERS, **KINDS, **GAPS, **LAYOUTS, **FORMATS}
