"""Modules and functions stay short enough to be read in one go."""

from __future__ import annotations

import statistics

from support.source import Function, modules, modules_of_tests, source_lines

MODULE_MEDIAN, MODULE_MAX, TEST_MODULE_MAX = 150, 400, 800
FUNCTION_P90, FUNCTION_MAX = 30, 60


def functions() -> list[Function]:
    """Return every function of the packages."""
    return [function for module in modules() for function in module.functions()]


def test_no_module_is_over_400_lines() -> None:
    long = {m.relative: source_lines(m) for m in modules() if source_lines(m) > MODULE_MAX}
    assert not long


def test_the_median_module_has_at_most_150_lines() -> None:
    sizes = [source_lines(m) for m in modules()]
    assert statistics.median(sizes) <= MODULE_MEDIAN


def test_no_test_module_is_over_800_lines() -> None:
    long = {m.relative: source_lines(m) for m in modules_of_tests() if source_lines(m) > TEST_MODULE_MAX}
    assert not long


def test_no_function_is_over_60_lines() -> None:
    long = {function.place: function.length for function in functions() if function.length > FUNCTION_MAX}
    assert not long


def test_nine_of_ten_functions_have_at_most_30_lines() -> None:
    lengths = sorted(function.length for function in functions())
    assert not lengths or lengths[int(len(lengths) * 0.9)] <= FUNCTION_P90
