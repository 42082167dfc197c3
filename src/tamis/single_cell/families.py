"""Families of genes that panels often leave out, by keyword."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from warnings import warn

import numpy as np
from numpy.typing import NDArray

_CELL_CYCLE = (
    "MCM5 PCNA TYMS FEN1 MCM2 MCM4 RRM1 UNG GINS2 MCM6 CDCA7 DTL PRIM1 UHRF1 MLF1IP CENPU HELLS RFC2 RPA2 NASP "
    "RAD51AP1 GMNN WDR76 SLBP CCNE2 UBR7 POLD3 MSH2 ATAD2 RAD51 RRM2 CDC45 CDC6 EXO1 TIPIN DSCC1 BLM CASP8AP2 USP1 "
    "CLSPN POLA1 CHAF1B BRIP1 E2F8 HMGB2 CDK1 NUSAP1 UBE2C BIRC5 TPX2 TOP2A NDC80 CKS2 NUF2 CKS1B MKI67 TMPO CENPF "
    "TACC3 FAM64A PIMREG SMC4 CCNB2 CKAP2L CKAP2 AURKB BUB1 KIF11 ANP32E TUBB4B GTSE1 KIF20B HJURP CDCA3 HN1 JPT1 "
    "CDC20 TTK CDC25C KIF2C RANGAP1 NCAPD2 DLGAP5 CDCA2 CDCA8 ECT2 KIF23 HMMR AURKA PSRC1 ANLN LBR CKAP5 CENPE CTCF "
    "NEK2 G2E3 GAS2L3 CBX5 CENPA"
)


class PanelWarning(UserWarning):
    """A panel was made, but not all that was asked for could be done."""


FAMILIES = {
    "mitochondrial": r"MT[-.].+",
    "ribosomal": r"RP[SL]\d+[AXY]?L?\d*|RPLP\d|RPSA",
    "haemoglobin": r"HB(A|B|D|E|G|M|Q|Z)\d?[AB]?(-.+)?",
    "sex": "XIST|TSIX|DDX3Y|EIF1AY|EIF2S3Y|KDM5D|NLGN4Y|RPS4Y1|RPS4Y2|TMSB4Y|TXLNGY|USP9Y|UTY|ZFY|ZFY1|ZFY2",
    "cell-cycle": "|".join(_CELL_CYCLE.split()),
}
"""Patterns of human and mouse gene symbols; the cell-cycle genes are those of Tirosh et al. (2016)."""


def matching_genes(entries: str | Sequence[str] | None, genes: NDArray[np.str_], parameter: str) -> NDArray[np.intp]:
    """Return the positions of the genes that names, globs such as ``"HLA-*"`` and families describe, in their order.

    Messages call the entries by the parameter.
    """
    wanted = [entries] if isinstance(entries, str) else () if entries is None else entries
    found = [place for entry in wanted for place in _matching(str(entry), genes, parameter).tolist()]
    return np.array(list(dict.fromkeys(found)), dtype=np.intp)


def _matching(entry: str, genes: NDArray[np.str_], parameter: str) -> NDArray[np.intp]:
    if entry in FAMILIES:
        if all(gene.startswith("ENS") for gene in genes[:20].tolist()):
            fault = f"{parameter}={entry!r} goes by gene symbols, and the genes are named by Ensembl identifiers"
            raise ValueError(f"{fault}; name the column of adata.var that holds the symbols by gene_key.")
        pattern = re.compile(FAMILIES[entry], re.IGNORECASE)
        found = np.flatnonzero([pattern.fullmatch(gene) is not None for gene in genes])
        if not found.size:
            warn(f"{parameter}: no gene has a symbol of the family {entry!r}.", PanelWarning, stacklevel=6)
        return found
    is_glob = any(sign in entry for sign in "*?[")
    found = np.flatnonzero([fnmatchcase(gene, entry) for gene in genes] if is_glob else genes == entry)
    if not found.size:
        close = get_close_matches(entry, [*FAMILIES, *genes.tolist()], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{parameter} names {entry!r}, which matches no gene.{hint}")
    return found
