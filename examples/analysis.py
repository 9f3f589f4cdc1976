# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # A result, looked at from Python
#
# A notebook in the percent format: Jupyter (by Jupytext), VS Code, Spyder and PyCharm open it cell
# by cell, and it runs as a script too:
#
#     python examples/analysis.py results/two-kernels-20260101T120000Z pictures
#
# Needs `pip install 'pentathlon[analysis]'`.

# %%
import sys
from pathlib import Path

import polars as pl

import pentathlon

words = [word for word in sys.argv[1:] if not word.startswith("-")]
path = words[0] if words else pentathlon.results()[0].path
pictures = Path(words[1] if len(words) > 1 else "pictures")
pictures.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## What was measured

# %%
result = pentathlon.Result(path)
print(result.name, result.systems, "reference:", result.reference)
if result.unfinished:
    print("!", result.unfinished)
print(f"{result.samples().height} samples, {len(result.keys)} metrics")
print(result.failures().select("system", "workload", "kind", "reason").unique())

# %% [markdown]
# ## The judgement of the study

# %%
comparison = result.compare()
table = comparison.table()
print(table.group_by("system", "verdict").len().sort("system", "len", descending=[False, True]))
print(table.select("system", "key", "verdict", "speed_percent", "low_percent", "high_percent"))

# %% [markdown]
# ## The same by hand
#
# The unit of inference is the boot: the mean of the log-ratios of paired boots, with Student's t.

# %%
boots = result.boots()
pairs = boots.filter(pl.col("system") != result.reference).join(
    boots.filter(pl.col("system") == result.reference), on=["key", "block"], suffix="_reference"
)
ratio = pl.col("value") / pl.col("value_reference")
inverse = (pl.col("direction") == "lower") & (pl.col("role") != "context")
speed = pl.when(inverse).then(1 / ratio).otherwise(ratio)
by_hand = pairs.group_by("system", "key").agg(
    ((speed.log().mean().exp() - 1) * 100).alias("by_hand"), pl.len().alias("blocks_by_hand")
)
beside = table.join(by_hand, on=["system", "key"]).select(
    "system", "key", "speed_percent", "by_hand", "blocks", "blocks_by_hand"
)
print(beside)
print(
    "largest difference:",
    beside.select((pl.col("speed_percent") - pl.col("by_hand")).abs().max()).item(),
)

# %% [markdown]
# ## Otherwise than planned
#
# A region of equivalence of 5 % for one area alone: marked post hoc wherever it is shown.

# %%
area = table["area"].value_counts(sort=True)["area"][0]
other = result.compare(delta=5, only=[f"{area}.*"])
print(other)
print(other.post_hoc)

# %% [markdown]
# ## Pictures

# %%
system = comparison.systems[0]
widest = (
    table.filter((pl.col("system") == system) & pl.col("low_percent").is_not_null())
    .sort(pl.col("speed_percent").abs(), descending=True)
    .head(20)["key"]
    .to_list()
)
if widest:
    comparison.plot(system=system, keys=widest).savefig(pictures / "forest.svg")
    result.plot(widest[0]).savefig(pictures / "boots.svg")
    result.plot(widest[0], kind="samples").savefig(pictures / "samples.svg")

# %% [markdown]
# ## To other programs

# %%
print(result.write(pictures / "tables", form="csv"))
print(result.boots(to="pandas").groupby("system")["value"].count())
