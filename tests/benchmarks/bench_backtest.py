"""Time of `backtest` on the flagship at 1,000 and 10,000 rows, and the growth from one to the other.

Run by `make bench`; nothing here asserts wall time. Rows are lanes of one calculation: ten times the rows
should take less than ten times as long.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

FLAGSHIP = "llm-serving"
HEAD = "llm,gpu,gpus_per_replica,batch,input_tokens,output_tokens,measured.tpot [ms],measured.ttft [ms]"


def _write(path: Path, rows: int) -> None:
    chance = random.Random(rows)
    with path.open("w") as file:
        print(HEAD, file=file)
        for _ in range(rows):
            model = chance.choice(["llama-3.1-70b", "llama-3.1-8b", "qwen3-32b"])
            card = chance.choice(["h100-sxm-80", "h200-sxm-141"])
            sizes = (chance.choice([1, 2, 4, 8]), chance.randint(1, 256))
            tokens = (chance.randint(99, 4000), chance.randint(99, 2000))
            measured = (f"{chance.uniform(5, 50):.3f}", f"{chance.uniform(50, 900):.1f}")
            print(model, card, *sizes, *tokens, *measured, sep=",", file=file)


def test_backtest_grows_with_the_rows(tmp_path: Path) -> None:
    seconds = {}
    for rows in (10, 1_000, 10_000):
        _write(tmp_path / f"{rows}.csv", rows)
        start = time.perf_counter()
        command = [sys.executable, "-m", "capgraph", "backtest", FLAGSHIP, str(tmp_path / f"{rows}.csv")]
        subprocess.run(command, check=True, capture_output=True)
        seconds[rows] = time.perf_counter() - start
    print("\ncapgraph backtest, whole process")
    for rows, taken in seconds.items():
        print(f"  {rows:>6,} rows {taken:6.2f} s, {taken - seconds[10]:6.2f} s beyond compiling")
    print(
        f"  ten times the rows: {(seconds[10_000] - seconds[10]) / (seconds[1_000] - seconds[10]):.1f} x the time"
    )
