"""A study on a real Ray cluster of two nodes that loses one of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly
from ray_settings import QUICK

from fitgym.study import campaign
from fitgym.study.plan import Plan
from fitgym.study.store import Status, Store

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

PLAN = Plan.of(
    {
        **{
            "name": "spread",
            "trial": "artificial",
            "subjects": ["gradient:30", "infeasible:20+gradient:10"],
            "seeds": 30,
        },
        **{"budget": "1000x", "arms": [{"name": "MIO"}, {"name": "Random", "search": "random_search"}]},
    }
)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield found
    ray.shutdown()
    found.shutdown()


def results(folder: Path) -> list[Any]:
    return [{**record, "seconds": {}} for record in Store.open(folder).records()]


@nightly
def test_a_node_that_is_lost_costs_nothing_and_the_numbers_are_those_of_one_process(
    cluster: Any, tmp_path: Path
) -> None:
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    nodes: list[int] = []

    def watch(progress: campaign.Progress) -> None:
        if progress.made == 30:
            nodes.append(alive())
            cluster.remove_node(second, allow_graceful=False)
            deadline = time.monotonic() + 60
            while alive() > 1 and time.monotonic() < deadline:
                time.sleep(0.2)
            nodes.append(alive())

    def alive() -> int:
        return sum(node["Alive"] for node in ray.nodes())

    found = campaign.run(PLAN, tmp_path / "ray", executor="ray", address=cluster.address, watch=watch)
    assert found == Status(120, 0, 0)
    assert nodes == [2, 1]
    campaign.run(PLAN, tmp_path / "serial", executor="serial")
    assert results(tmp_path / "ray") == results(tmp_path / "serial")
