"""The list of data sets: the paper's ten, MNIST, and what stands in for two that could not be had.

The checksums are those of the copies behind the kept results. None is known for RCV1, GISETTE and FAN, whose public
files were not at hand; their readers are tested on small files of the same format. The addresses were not tried when
this list was written, and FAN's accession number is the one its authors' article is known by.
"""

from research.paper.described import DataSet, Source

COLLECTION = "https://jundongl.github.io/scikit-feature"
NO_TERMS = "no terms are stated; for research"


def _collected(name: str, printed: str, file: str, checksum: str, note: str = "") -> DataSet:
    """Describe a set of the scikit-feature collection, whose files are called a little differently there."""
    source = Source(f"{name}.mat", f"{COLLECTION}/files/datasets/{file}", (checksum,))
    return DataSet(name, printed, "matlab", (source,), f"{COLLECTION}/datasets.html", NO_TERMS, note)


DATASETS: tuple[DataSet, ...] = (
    DataSet(
        "RCV1",
        "RCV1",
        "svmlight",
        (
            Source(
                "rcv1_train.binary.bz2",
                "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/rcv1_train.binary.bz2",
            ),
        ),
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
        "Reuters Corpus Volume 1: for research",
        "20,242 × 47,236 there; the paper describes 21,332 × 24,408 without saying which part it took",
    ),
    DataSet(
        "GISETTE",
        "GISETTE",
        "numbers and labels",
        tuple(
            Source(
                f"gisette_train.{kind}",
                f"https://archive.ics.uci.edu/ml/machine-learning-databases/gisette/GISETTE/gisette_train.{kind}",
            )
            for kind in ("data", "labels")
        ),
        "https://archive.ics.uci.edu/dataset/170/gisette",
        "CC BY 4.0",
        "6,000 × 5,000, of which some features are constant and left out",
    ),
    _collected(
        "pixraw10P", "PIX10", "pixraw10P.mat", "aa4b474244ae847dc2efdc868c0ff58fc3748a830c2ffdf760a1697cf72088f8"
    ),
    _collected(
        "COIL20",
        "COIL20",
        "COIL20.mat",
        "4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344",
        "1,440 rows; the paper prints 1,444",
    ),
    _collected("Yale", "Yale", "Yale.mat", "cccd29abd2c520dd5cc8ff7645b422c2bdadd59406a6b6a0239143d9d44afcf3"),
    _collected("TOX-171", "TOX-171", "TOX_171.mat", "f52f57e61775b7830c84750456d7fadfd220d1cc8eed26419c3390eb9216cc84"),
    _collected(
        "ALLAML",
        "ALLAML",
        "ALLAML.mat",
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
        "7,129 features; the paper prints 7,192",
    ),
    _collected(
        "Prostate-GE",
        "PROSTATE",
        "Prostate_GE.mat",
        "050b598534dbc662f23e30f39b41354b61d02ab8567837bcf9b1091c1c636ab4",
    ),
    DataSet(
        "FAN",
        "FAN",
        "genes in rows",
        (Source("fan.tsv.gz"),),
        "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE53386",
        "public at GEO",
        "a tab-separated table with genes in rows and cells named stage_number is to be made from the samples there",
        counts=True,
    ),
    DataSet(
        "pollen",
        "POLLEN",
        "sparse archive",
        (Source("pollen_counts.npz", None, ("bc119b2da8957789b354f6f980ea145b4352be583cdcefda29af77e99406a6eb",)),),
        "https://github.com/gongx030/scDatasets",
        "MIT (the R package that holds it)",
        "299 × 23,794, the nearest variant found of the paper's 301 × 21,810",
        counts=True,
    ),
    DataSet(
        "MNIST",
        None,
        "digits",
        (
            Source(
                "mnist.npz",
                "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
                (
                    "58c05ffd9880e3b6ddfe8c74b89ccc40c0da6f6152f4c5203a7c6a12919c2344",
                    "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
                ),
            ),
        ),
        "http://yann.lecun.com/exdb/mnist",
        "CC BY-SA 3.0",
    ),
    DataSet(
        "goolam",
        None,
        "sparse archive",
        (Source("goolam_counts.npz", None, ("7946b342cce8b1690958bd6d7f888b0649575c5685762348c5c94ef367c842ae",)),),
        "https://github.com/cran/scTEP",
        "LGPL (the R package that holds it)",
        "not in the paper: mouse embryo cells that stand in for FAN",
        counts=True,
    ),
    DataSet(
        "rcv1_subset",
        None,
        "sparse archive",
        (Source("rcv1_subset.npz", None, ("92d82e82b5edf81a2808d2986f65d920d16f3e93087867bba6ac7eda4118ab8c",)),),
        "https://github.com/VowpalWabbit/vowpal_wabbit",
        "BSD-3-Clause (the test sets that hold it)",
        "not in the paper: a small part of RCV1, 1,747 × 12,524, that stands in for it",
    ),
)

STAND_INS = {"goolam": "FAN", "rcv1_subset": "RCV1"}
"""Which set of the paper another one stands in for."""
