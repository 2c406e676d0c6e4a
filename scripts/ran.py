"""Say what a test run did, in two lines, from pytest's result files."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

LEFT_OUT = "live (make live), browser (make browser), kernel versions (make kernels), full figures (make proof)"


def counts(path: Path) -> dict[str, float]:
    """Return how many tests a result file holds, by outcome, and the seconds they took."""
    suites = list(ElementTree.parse(path).getroot().iter("testsuite"))
    return {
        key: sum(float(suite.get(key, 0)) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped", "time")
    }


def main(arguments: list[str]) -> None:
    """Print one line for what ran and one for what was left out."""
    parts, bad, seconds = [], 0, 0.0
    for path, unit in zip(map(Path, arguments), ("tests", "notebook cells"), strict=False):
        if path.exists():
            found = counts(path)
            parts.append(f"{found['tests'] - found['skipped']:.0f} {unit}")
            bad += int(found["failures"] + found["errors"])
            seconds += found["time"]
    if not parts:
        print("make test: nothing ran; pytest stopped before the first test, see above.")
        return
    print(f"make test: {' and '.join(parts)} ran in {seconds:.0f} s, {bad or 'none'} failed.")
    print(f"Not part of it: {LEFT_OUT}.")


if __name__ == "__main__":
    main(sys.argv[1:])
