"""Directed graphs of plain ints: order, reachability, cycles, colours. Knows nothing of nvFuser.

A graph is its successors: ``successors[node]`` are the nodes that an edge leads to from ``node``, each once.
"""

from segscope.graph.adjacency import Successors, predecessors, successors
from segscope.graph.cycles import Cut, components, fewest_cuts, shortest_cycle
from segscope.graph.order import Order, topological_order
from segscope.graph.reach import descendants, shortest_path
from segscope.graph.refine import Colours, digest, refine

__all__ = [
    "Colours",
    "Cut",
    "Order",
    "Successors",
    "components",
    "descendants",
    "digest",
    "fewest_cuts",
    "predecessors",
    "refine",
    "shortest_cycle",
    "shortest_path",
    "successors",
    "topological_order",
]
