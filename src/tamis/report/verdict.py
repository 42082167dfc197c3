"""Whether a selection can be trusted, in plain words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.report.analysis import Analysis
from tamis.selectors.convergence import EXPLAINED, SETTLED

COPIES = 0.95
"""Chosen features with a correlation above this are as good as copies."""

ALIKE = 0.05
"""Mean correlations that differ by less than this are about the same."""


@dataclass(frozen=True)
class Verdict:
    """A headline and the sentences behind it.

    Attributes
    ----------
    level : {"good", "fair", "poor"}
        How far to trust the selection.
    headline : str
        That, in words.
    findings : list of str
        What speaks for it.
    concerns : list of str
        What speaks against it, and what to do.
    """

    level: str
    headline: str
    findings: list[str]
    concerns: list[str]

    def sentence(self) -> str:
        """Give the headline with its first reason."""
        reasons = self.concerns or self.findings
        return f"{self.headline}: {reasons[0][0].lower() + reasons[0][1:]}" if reasons else f"{self.headline}."


HEADLINES = {
    "good": "This selection can be trusted",
    "fair": "Use this selection with care",
    "poor": "Do not trust this selection yet",
}


def judge(selector: Any, analysis: Analysis, stopped: bool = False) -> Verdict:
    """Weigh convergence, coverage against random lists, and copies among the chosen."""
    checks = [_training(selector, stopped), _coverage(analysis), _copies(analysis)]
    worst = max(level for level, _ in checks)
    level = ("good", "fair", "poor")[worst]
    return Verdict(
        level,
        HEADLINES[level],
        [text for grade, text in checks if grade == 0 and text],
        [text for grade, text in sorted(checks, key=lambda check: -check[0]) if grade > 0],
    )


def _training(selector: Any, stopped: bool) -> tuple[int, str]:
    if stopped:
        return 2, "Training was stopped early, so that the features are those in the lead at that moment."
    again, settled = getattr(selector, "found_again_", None), getattr(selector, "settled_", None)
    if again is not None and len(again):
        return _stability(again)
    if settled is None or not len(settled):
        return 0, ""
    done, units = int((settled >= SETTLED).sum()), len(settled)
    if done == units:
        return 0, f"Training converged: {'all ' if units > 1 else ''}{units} unit(s) settled on one feature each."
    return 1, (
        f"{units - done} of {units} unit(s) had not settled on one feature or its near copies (mean probability "
        f"{settled.mean():.2f}); train longer or with another seed, and see which features stay."
    )


def _stability(again: Any) -> tuple[int, str]:
    found, chosen = int((again >= EXPLAINED).sum()), len(again)
    if found == chosen:
        return 0, f"Other rows of the table would give {'all ' if chosen > 1 else ''}{chosen} feature(s) again."
    return (1 if 2 * found >= chosen else 2), (
        f"Other rows of the table would give {found} of the {chosen} feature(s) or near copies again; try more rows, "
        "another number of features, or another seed, and see which ones stay."
    )


def _coverage(analysis: Analysis) -> tuple[int, str]:
    if not analysis.others.size:
        return 0, "Every usable feature was chosen."
    chosen, lists = analysis.scores["explained"], [scores["explained"] for scores in analysis.random_scores]
    k = len(analysis.selected)
    text = (
        f"From the chosen features, {_share(chosen)} of the variance of the others is predicted on samples held out; "
        f"random lists of {k} reach {_share(np.mean(lists))} ({_share(min(lists))} to {_share(max(lists))})."
    )
    if chosen >= np.mean(lists):
        return 0, text
    smooth, usual = analysis.scores["smoothness"], analysis.random_mean("smoothness")
    if smooth > usual:
        more = f" They follow the structure of the samples more closely (smoothness {smooth:.2f} against {usual:.2f})."
        return (0 if chosen >= min(lists) else 1), text + more
    return (1 if chosen >= min(lists) else 2), text + " A list drawn at random would tell as much."


def _copies(analysis: Analysis) -> tuple[int, str]:
    chosen = analysis.selected
    if len(chosen) < 2:
        return 0, ""
    near = int((np.abs(analysis.correlation[chosen]) > COPIES).sum())
    level, usual = analysis.scores["redundancy"], analysis.random_mean("redundancy")
    if near:
        text = (
            f"{near} of the {len(chosen)} chosen features have a near copy among the chosen (correlation above "
            f"{COPIES}); a smaller list may do as well."
        )
        return (1 if near < len(chosen) / 2 else 2), text
    apart = level - usual
    more = "about as much as" if abs(apart) < ALIKE else "more than" if apart > 0 else "less than"
    return 0, (
        f"The chosen features repeat each other {more} random lists do: "
        f"the nearest other chosen feature has a mean correlation of {level:.2f} (random lists {usual:.2f})."
    )


def _share(value: Any) -> str:
    return f"{100 * max(0.0, float(value)):.0f}%"
