"""Branches kept for resuming, in ``<home>/branches``, and which of them was the last one."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from lionagi._errors import LionError, NotFoundError, ValidationError, short_repr
from lionagi.ln.files import write_atomic
from lionagi.ln.home import lionagi_home
from lionagi.ln.jsons import json_dumps, loads_json
from lionagi.session.branch import Branch

__all__ = ("load_branch", "save_branch")

_LAST = "last_branch.json"


def save_branch(branch: Branch) -> Path:
    """Write the branch and note it as the last one; return its file.

    Raises:
        OSError: The place cannot be written.
        ValidationError: The target is a symbolic link or no regular file.
    """
    home = lionagi_home().absolute()
    path = _file_of(home, branch.id)
    write_atomic(path, json_dumps(branch.snapshot()))
    write_atomic(home / _LAST, json_dumps({"branch_id": str(branch.id)}))
    return path


def load_branch(branch_id: str | None) -> Branch:
    """Return the saved branch of that id, the last one for None.

    Raises:
        NotFoundError: There is none.
        ValidationError: The id is no id, or the file does not hold a branch.
    """
    home = lionagi_home()
    if branch_id is None:
        if not (home / _LAST).is_file():
            raise NotFoundError(f"nothing to continue: no branch was saved in {home}")
        branch_id = str(_read(home / _LAST).get("branch_id"))
    try:
        path = _file_of(home, UUID(branch_id))
    except ValueError:
        raise ValidationError(f"{short_repr(branch_id)} is not the id of a branch") from None
    if not path.is_file():
        raise NotFoundError(f"no branch {branch_id} was saved in {path.parent}")
    try:
        return Branch.from_dict(_read(path))
    except LionError:
        raise
    except Exception as error:
        raise ValidationError(f"{path} does not hold a branch: {short_repr(error)}", cause=error) from error


def _file_of(home: Path, branch_id: UUID) -> Path:
    return home / "branches" / f"{branch_id}.json"


def _read(path: Path) -> dict[str, object]:
    try:
        data = loads_json(path.read_bytes())
    except (OSError, LionError) as error:
        raise ValidationError(f"{path} cannot be read: {error}", cause=error) from error
    if not isinstance(data, dict):
        raise ValidationError(f"{path} does not hold a JSON object")
    return data  # pyright: ignore[reportUnknownVariableType]
