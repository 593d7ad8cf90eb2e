from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from segscope.dump import read
from segscope.model import SegmentedFusion
from segscope.render import draw
from segscope.render.model_explorer import to_model_explorer
from segscope.render.view import View

from .conftest import FIXTURES
from .hostile import TEXTS, fusion_of

DUMPS = sorted(p for p in FIXTURES.rglob("*.txt") if "Segmented_Fusion" in p.read_text("utf-8", "replace"))


def graph_of(text: str) -> dict[str, Any]:
    """The graph, as its loader takes it: unique ids, edges between nodes that are there, values that are text."""
    collection = json.loads(text)
    assert isinstance(collection["label"], str)
    (graph,) = collection["graphs"]
    ids = [node["id"] for node in graph["nodes"]]
    assert len(set(ids)) == len(ids)
    outputs = {node["id"]: len(node.get("outputsMetadata", [])) for node in graph["nodes"]}
    for node in graph["nodes"]:
        assert isinstance(node["label"], str)
        assert node["namespace"].count("/") == node["namespace"].count(";") == 0
        for edge in node.get("incomingEdges", []):
            assert int(edge["sourceNodeOutputId"]) < outputs[edge["sourceNodeId"]]
            assert int(edge["targetNodeInputId"]) < len(node["inputsMetadata"])
        for item in [*node.get("attrs", []), *(a for m in node.get("outputsMetadata", []) for a in m["attrs"])]:
            assert isinstance(item["value"], str)
    assert set(graph["groupNodeAttributes"]) >= {node["namespace"] for node in graph["nodes"]}
    return graph  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", DUMPS, ids=[p.stem for p in DUMPS])
def test_every_tensor_expression_is_a_node_in_its_group(path: Path) -> None:
    for fusion in read(path).fusions:
        graph = graph_of(to_model_explorer(fusion))
        nodes = {(node["namespace"].split()[0], node["id"]) for node in graph["nodes"] if node["namespace"]}
        assert nodes == {
            (group.label, f"{group.index}.{expr.id}")
            for group in fusion.groups
            for expr in fusion.exprs_of(group)
            if not expr.is_scalar
        }


def test_values_come_from_where_they_are_made(july_2024: SegmentedFusion) -> None:
    nodes = {node["id"]: node for node in graph_of(to_model_explorer(july_2024))["nodes"]}
    slice_of_t8 = next(n for n in nodes.values() if n["outputsMetadata"][0]["attrs"][0]["value"] == "T12")
    (edge,) = slice_of_t8["incomingEdges"]
    assert nodes[edge["sourceNodeId"]]["outputsMetadata"][0]["attrs"] == [
        {"key": "__tensor_tag", "value": "T8"},
        {"key": "shape", "value": "[2, 40, 4096, 128]"},
        {"key": "dtype", "value": "__bfloat"},
        {"key": "memory", "value": "83.9 MB"},
    ]
    assert nodes[edge["sourceNodeId"]]["namespace"] == "#1 pointwise"
    assert slice_of_t8["namespace"] == "#7 pointwise"
    (from_input,) = next(n for n in nodes.values() if n["label"] == "reshape")["incomingEdges"]
    assert nodes[from_input["sourceNodeId"]]["label"] == "fusion input T0"
    assert [len(nodes[f"output {n}"]["incomingEdges"]) for n in range(3)] == [1, 1, 1]


def test_the_model_alone_decides_the_text(july_2024: SegmentedFusion) -> None:
    again = SegmentedFusion.model_validate_json(july_2024.model_dump_json())
    assert to_model_explorer(again) == to_model_explorer(july_2024)


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_hostile_names(text: str) -> None:
    graph = graph_of(to_model_explorer(fusion_of(text), title=text))
    assert len(graph["nodes"]) == 4


def test_a_view_chooses_groups(july_2024: SegmentedFusion) -> None:
    graph = graph_of(to_model_explorer(july_2024, view=View(focus=(7,), radius=0)))
    assert {node["namespace"] for node in graph["nodes"]} == {"", "#7 pointwise"}


def test_a_file(tmp_path: Path, july_2024: SegmentedFusion) -> None:
    assert draw(july_2024, tmp_path / "a.json", "title") == "segscope"
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["label"].startswith("title · fusion 0: 11 groups")
