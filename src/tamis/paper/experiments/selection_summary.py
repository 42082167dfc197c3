"""Tables, picture and words for the clustering accuracies of all methods."""
from tamis.paper.experiment import *
def verdict(rows): return ""
def tables(rows): return []
def draw(rows, folder): return []
