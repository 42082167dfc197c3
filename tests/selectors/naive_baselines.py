"""Slow and obvious: the shared graph by loops, and small tables, for the tests of the baselines."""

import math

import numpy as np


def blobs(n=40, d=8, informative=(1, 4), seed=0, shift=6.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[: n // 2, [j for j in informative if j < d]] += shift
    return X


def zscore(X):
    columns = []
    for j in range(X.shape[1]):
        column = [float(value) for value in X[:, j]]
        mean = sum(column) / len(column)
        spread = math.sqrt(sum((value - mean) ** 2 for value in column) / len(column))
        columns.append([(value - mean) / spread for value in column])
    return np.array(columns).T


def distance(a, b):
    return math.sqrt(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))


def neighbour_lists(X, k):
    lists = []
    for i in range(len(X)):
        others = sorted((distance(X[i], X[j]), j) for j in range(len(X)) if j != i)
        lists.append([j for _, j in others[:k]])
    return lists


def heat_weights(X, k, sigma=None):
    n, lists = len(X), neighbour_lists(X, k)
    if sigma is None:
        every = [distance(X[i], X[j]) for i in range(n) for j in lists[i]]
        sigma = sum(every) / len(every)
    W = np.zeros((n, n))
    for i in range(n):
        for j in lists[i]:
            weight = math.exp(-(distance(X[i], X[j]) ** 2) / (2 * sigma**2))
            W[i, j] = max(W[i, j], weight)
            W[j, i] = max(W[j, i], weight)
    return W


def normalised_laplacian(W):
    n, degree = len(W), [sum(row) for row in W]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            L[i, j] = (i == j) - W[i, j] / math.sqrt(degree[i] * degree[j])
    return L


def laplacian_score(f, W):
    n, degree = len(f), [sum(row) for row in W]
    mean = sum(degree[i] * f[i] for i in range(n)) / sum(degree)
    g = [value - mean for value in f]
    top = sum(W[i, j] * (g[i] - g[j]) ** 2 for i in range(n) for j in range(n)) / 2
    return top / sum(degree[i] * g[i] ** 2 for i in range(n))
