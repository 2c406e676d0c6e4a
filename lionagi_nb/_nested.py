"""Nested event loops on request: applying nest-asyncio, or saying why not."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from lionagi._errors import ConfigurationError, MissingExtraError

__all__ = ("enable_nested_loops",)


def enable_nested_loops() -> None:
    """Let ``asyncio.run`` be called inside a running loop by applying nest-asyncio to this process.

    Nothing does this by itself, and `run_sync` does not need it.

    Raises:
        ConfigurationError: nest-asyncio 1.6 on ipykernel 7 or later, where cells get lost under Run All.
        MissingExtraError: nest-asyncio is not installed.
    """
    nest, kernel = _release("nest-asyncio"), _release("ipykernel")
    if nest is None:
        raise MissingExtraError("enable_nested_loops() needs the package nest-asyncio; run_sync() works without it")
    if nest < (1, 7) and kernel is not None and kernel >= (7,):
        found = ".".join(map(str, kernel))
        raise ConfigurationError(
            f"nest-asyncio 1.6 loses cells under Run All on ipykernel 7 and later (here {found}); "
            "use run_sync(), or await in the cell"
        )
    import nest_asyncio  # pyright: ignore[reportMissingTypeStubs]

    nest_asyncio.apply()  # pyright: ignore[reportUnknownMemberType]


def _release(package: str) -> tuple[int, ...] | None:
    try:
        parts = version(package).split(".")
    except PackageNotFoundError:
        return None
    numbers: list[int] = []
    for part in parts:
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)
