"""Matching what a model wrote against the keys that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.dicts import to_dict
from lionagi.ln.jsons import extract_json
from lionagi.ln.types import Params, Unset

if TYPE_CHECKING:
    from pydantic import BaseModel

    ModelT = TypeVar("ModelT", bound=BaseModel)

__all__ = (
    "FuzzyMatchKeysParams",
    "HandleUnmatched",
    "fuzzy_match_keys",
    "fuzzy_validate_mapping",
    "fuzzy_validate_pydantic",
)

HandleUnmatched = Literal["ignore", "raise", "remove", "fill", "force"]
Similarity = Callable[[str, str], float]

_UNMATCHED = ("ignore", "raise", "remove", "fill", "force")
_ALGORITHMS = ("jaro_winkler", "levenshtein", "sequence_matcher", "hamming", "cosine")
# Comparing takes time in proportion to expected times surplus keys; a hostile answer can have any number of those.
_MOST_COMPARED = 1000


def fuzzy_match_keys(
    d: Mapping[str, Any],
    keys: Iterable[str] | Mapping[str, Any],
    /,
    *,
    similarity_algo: str | Similarity = "jaro_winkler",
    similarity_threshold: float = 0.85,
    fuzzy_match: bool = True,
    handle_unmatched: HandleUnmatched = "ignore",
    fill_value: Any = None,
    fill_mapping: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """Return a new dict whose keys are the expected ones where ``d`` has them, exactly or nearly.

    Exact matches come first; then the most similar pairs, each key used once. The expected keys stand first and in
    their order. Only the first 1,000 surplus keys are compared.

    Args:
        d: The mapping; it is not changed.
        keys: The expected keys, or a mapping that has them.
        similarity_algo: "jaro_winkler", "levenshtein", "sequence_matcher", "hamming" or "cosine", or a function of two
            strings that gives 0.0 to 1.0.
        similarity_threshold: The least similarity of a match, 0.0 to 1.0.
        fuzzy_match: Whether keys that are only similar count.
        handle_unmatched: "ignore" keeps surplus keys, "remove" drops them, "raise" refuses them; "fill" adds the
            missing keys and keeps surplus ones, "force" adds the missing keys and drops surplus ones.
        fill_value: The value of a missing key that ``fill_mapping`` does not have.
        fill_mapping: Values of missing keys.
        strict: Refuse a result that lacks an expected key.

    Raises:
        TypeError: ``d`` is no mapping, or ``keys`` is None.
        ValidationError: An option is none of those above, or keys are refused; it is a ValueError.
    """
    expected = _checked(d, keys, similarity_threshold, handle_unmatched)
    source = _pairs(d, expected, _similarity(similarity_algo), similarity_threshold if fuzzy_match else None)
    used = set(source.values())
    surplus = {key: value for key, value in d.items() if key not in used}
    if surplus and handle_unmatched == "raise":
        raise ValidationError(f"Unmatched keys found: {short_repr(list(surplus))}; expected are {short_repr(expected)}")
    result: dict[str, Any] = {}
    for key in expected:
        if key in source:
            result[key] = d[source[key]]
        elif handle_unmatched in ("fill", "force"):
            result[key] = fill_mapping[key] if fill_mapping and key in fill_mapping else fill_value
    if handle_unmatched in ("ignore", "fill"):
        result.update(surplus)
    if strict and (missing := [key for key in expected if key not in result]):
        raise ValidationError(f"Missing required keys: {short_repr(missing)}; there are {short_repr(list(d))}")
    return result


def _checked(d: object, keys: Any, threshold: float, handle_unmatched: str) -> list[str]:
    if not isinstance(d, Mapping):
        raise TypeError(f"the first argument must be a mapping, not {short_repr(d)}")
    if keys is None:
        raise TypeError("the expected keys must be a list or a mapping, not None")
    if not 0.0 <= threshold <= 1.0:
        raise ValidationError(f"similarity_threshold must be from 0.0 to 1.0, not {short_repr(threshold)}")
    if handle_unmatched not in _UNMATCHED:
        raise ValidationError(f"handle_unmatched must be one of {', '.join(_UNMATCHED)}, not {handle_unmatched!r}")
    return list(dict.fromkeys(keys))


def _pairs(
    d: Mapping[str, Any], expected: Sequence[str], similarity: Similarity, threshold: float | None
) -> dict[str, str]:
    """Return the input key for each expected key that has one."""
    source = {key: key for key in expected if key in d}
    missing = [key for key in expected if key not in source]
    if threshold is None or not missing or len(source) == len(d):
        return source
    exact = set(source)
    surplus = [key for key in d if key not in exact and isinstance(key, str)][:_MOST_COMPARED]  # pyright: ignore[reportUnnecessaryIsInstance]
    scored = ((similarity(want, have), want, have) for want in missing for have in surplus)
    # A stable sort: of equally similar pairs the one that is expected, then written, first wins.
    for _, want, have in sorted((each for each in scored if each[0] >= threshold), key=lambda each: -each[0]):
        if want not in source and have not in exact:
            source[want] = have
            exact.add(have)
    return source


def _similarity(algorithm: str | Similarity) -> Similarity:
    if not isinstance(algorithm, str):
        return algorithm
    if algorithm not in _ALGORITHMS:
        raise ValidationError(f"similarity_algo must be one of {', '.join(_ALGORITHMS)}, not {short_repr(algorithm)}")
    if algorithm == "cosine":
        return _cosine
    if algorithm == "sequence_matcher":
        return _sequence_matcher
    return _by_distance(algorithm)


def _by_distance(algorithm: str) -> Similarity:
    from rapidfuzz.distance import Hamming, JaroWinkler, Levenshtein

    if algorithm == "hamming":
        return lambda one, other: Hamming.normalized_similarity(one, other) if len(one) == len(other) else 0.0
    return JaroWinkler.similarity if algorithm == "jaro_winkler" else Levenshtein.normalized_similarity


def _sequence_matcher(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio()


def _cosine(one: str, other: str) -> float:
    """Compare how often each character occurs."""
    letters = set(one) | set(other)
    product = sum(one.count(letter) * other.count(letter) for letter in letters)
    lengths = [sum(text.count(letter) ** 2 for letter in letters) for text in (one, other)]
    return product / (lengths[0] * lengths[1]) ** 0.5 if all(lengths) else float(one == other)


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class FuzzyMatchKeysParams(Params):
    """The options of :func:`fuzzy_match_keys` as a value: ``params(d, keys)`` matches with them."""

    similarity_algo: str | Similarity = "jaro_winkler"
    similarity_threshold: float = 0.85
    fuzzy_match: bool = True
    handle_unmatched: HandleUnmatched = "ignore"
    fill_value: Any = Unset
    fill_mapping: Any = Unset
    strict: bool = False

    def __call__(self, d: Mapping[str, Any], keys: Iterable[str] | Mapping[str, Any], /) -> dict[str, Any]:
        """Return ``d`` with its keys matched; a fill value that was never set is None."""
        return fuzzy_match_keys(
            d,
            keys,
            similarity_algo=self.similarity_algo,
            similarity_threshold=self.similarity_threshold,
            fuzzy_match=self.fuzzy_match,
            handle_unmatched=self.handle_unmatched,
            fill_value=None if self.fill_value is Unset else self.fill_value,
            fill_mapping=self.fill_mapping or None,
            strict=self.strict,
        )


def fuzzy_validate_mapping(
    d: Any,
    keys: Iterable[str] | Mapping[str, Any],
    /,
    *,
    similarity_algo: str | Similarity = "jaro_winkler",
    similarity_threshold: float = 0.85,
    fuzzy_match: bool = True,
    handle_unmatched: HandleUnmatched = "ignore",
    fill_value: Any = None,
    fill_mapping: Mapping[str, Any] | None = None,
    strict: bool = False,
    suppress_conversion_errors: bool = False,
) -> dict[str, Any]:
    """Return a mapping with its keys matched as :func:`fuzzy_match_keys` does it.

    Args:
        d: A mapping, a pydantic model, or text: the first JSON object in it is taken, repaired if need be.
        keys: The expected keys; the other options are those of :func:`fuzzy_match_keys`.
        suppress_conversion_errors: Take what cannot be converted as an empty mapping.

    Raises:
        TypeError: ``d`` is None.
        ValidationError: There is no mapping in ``d``, or its keys are refused; it is a ValueError.
    """
    if d is None:
        raise TypeError("a mapping, a model or text was expected, not None")
    try:
        data = _first_mapping(d) if isinstance(d, str) else to_dict(d)
    except ValueError as error:
        if not suppress_conversion_errors:
            message = f"Failed to convert input to dictionary: {error}"
            raise ValidationError(message, cause=error) from error
        data = {}
    return fuzzy_match_keys(
        data,
        keys,
        similarity_algo=similarity_algo,
        similarity_threshold=similarity_threshold,
        fuzzy_match=fuzzy_match,
        handle_unmatched=handle_unmatched,
        fill_value=fill_value,
        fill_mapping=fill_mapping,
        strict=strict,
    )


def _first_mapping(text: str, fuzzy_parse: bool = True) -> dict[str, Any]:
    found = extract_json(text, fuzzy_parse=fuzzy_parse, return_one_if_single=False)
    while found:
        value = found.pop(0)
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        if isinstance(value, list):
            found[:0] = [each for each in cast("list[Any]", value) if isinstance(each, dict)][:1]
    raise ValidationError(f"there is no JSON object in the text {short_repr(text)}")


def fuzzy_validate_pydantic(
    text: str,
    /,
    model_type: type[ModelT],
    fuzzy_parse: bool = True,
    fuzzy_match: bool = False,
    fuzzy_match_params: FuzzyMatchKeysParams | dict[str, Any] | None = None,
) -> ModelT:
    """Return the model that the first JSON object in ``text`` describes.

    Args:
        text: A model's answer.
        model_type: The pydantic class.
        fuzzy_parse: Repair JSON that is not valid.
        fuzzy_match: Match the keys to the fields first.
        fuzzy_match_params: How; the defaults of FuzzyMatchKeysParams when omitted.

    Raises:
        ValidationError: There is no object, or the class refuses it; pydantic's own error is the ``__cause__``.
    """
    data = _first_mapping(text, fuzzy_parse)
    if fuzzy_match:
        given = fuzzy_match_params
        params = given if isinstance(given, FuzzyMatchKeysParams) else FuzzyMatchKeysParams(**(given or {}))
        fields = model_type.model_fields
        data = params(data, [field.alias or name for name, field in fields.items()])
    try:
        return model_type.model_validate(data)
    except ValueError as error:
        message = f"the JSON object does not fit {model_type.__name__}: {error}"
        raise ValidationError(message, cause=error) from error
