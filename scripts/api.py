"""Write tests/architecture/public_api.txt anew from the source (``make api``)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.public_api import PUBLIC_API, describe

if __name__ == "__main__":
    PUBLIC_API.write_text(describe(), encoding="utf-8")
    print(f"wrote {PUBLIC_API.name}: {PUBLIC_API.read_text(encoding='utf-8').count(chr(10))} lines")
