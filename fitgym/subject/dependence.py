"""Control dependence: which outcomes must occur before a site can be reached.

Every function has a control flow graph (`fitgym.subject.code.control_flow`). A node n is control dependent on the
outcome o of a decision d if two things hold: n post-dominates the successor of d under o, and n does not strictly
post-dominate d. Then outcome o always leads to n, while d can avoid n. The dependences are read off the post-dominator
tree.

References:
    Ferrante, Ottenstein and Warren 1987, The Program Dependence Graph and Its Use in Optimization, section 3.1.
    Cooper, Harvey and Kennedy 2001, A Simple, Fast Dominance Algorithm: post-dominators by iteration.

Differs from the paper in five points:
    - Some decisions have no site: whether a statement in a `try` raises, whether an exception class matches, whether an
      iterator has another element. A node that depends on such a decision inherits the dependences of the decision.
      Paths through an exception count only if there is no other path.
    - A pair of both outcomes of one decision is replaced by the dependences of the decision.
    - Dependences on a site with the same or a larger number are left out. They follow back edges of loops (the
      condition of a loop depends on the outcome that repeats it), because numbers follow the order of evaluation. The
      remaining dependences have no cycles, so approach levels are well defined.
    - A loop that the program never leaves (`while True`) is assumed to end.
    - Exceptions of statements outside `try` and `with` are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fitgym.subject.code.control_flow import Graph, Graphs
from fitgym.subject.code.syntax import deep_trees
from fitgym.subject.subject import Branch, Function, Site

__all__ = ["Dependence", "branches", "dependences"]

Dependence = tuple[tuple[int, bool], ...]
"""The (site, outcome) pairs that a site is control dependent on, ordered by site."""


def dependences(
    tree: ast.Module,
    at: Mapping[ast.AST, int],
    blocks: Mapping[ast.AST, int],
    entries: Mapping[ast.AST, int],
    sites: Sequence[Site],
    functions: Sequence[Function],
    infection: Mapping[ast.AST, int] = MappingProxyType({}),
) -> tuple[Dependence, ...]:
    """Return the control dependences of each site, by site id.

    An entry block depends on nothing. A site that runs whenever its function runs depends on `(entry block, True)`.

    Args:
        tree, at, blocks, entries, infection: the syntax tree of the module and the sites of its nodes; see
            `fitgym.instrument.rewriting.plan.Plan`.
        sites: by id.
        functions: by id.
    """
    entry_of = [function.entry for function in functions]
    found: list[Dependence] = [((entry_of[site.function], True),) for site in sites]
    for entry in entry_of:
        found[entry] = ()
    graphs = Graphs(at, blocks, entries, infection)
    with deep_trees():
        graphs.of_module(tree)
    for graph in graphs.done:
        for site, dependence in _control_dependences(graph).items():
            found[site] = dependence
    return tuple(found)


def branches(
    sites: Sequence[Site], functions: Sequence[Function], within: str | tuple[int, int] | None = None
) -> tuple[Branch, ...]:
    """Return the entry of every function, then both outcomes of every deciding predicate, true first, in source order.

    Args:
        sites: by id.
        functions: by id.
        within: restricts the branches to the methods of the class with this qualified name (and all functions and
            classes inside it), or to the functions and predicates between two lines, both included.
    """
    lines: tuple[int, int] | None = None
    if isinstance(within, str) and within:
        chosen = {function.id for function in functions if function.name.startswith(f"{within}.")}
    elif isinstance(within, tuple):
        lines = within
        chosen = {f.id for f in functions if f.id and lines[0] <= f.line and f.end_line <= lines[1]}
    else:
        chosen = {function.id for function in functions}
    found = [Branch(function.entry, True, root=True) for function in functions if function.id in chosen]
    for site in sites:
        inside = site.function in chosen or (lines is not None and lines[0] <= site.line <= lines[1])
        if inside and site.kind != "block" and site.decides:
            found += [Branch(site.id, True), Branch(site.id, False)]
    return tuple(found)


def _control_dependences(graph: Graph) -> dict[int, Dependence]:
    """Return, for each site of the graph, the pairs that it is control dependent on."""
    order, reached = _post_order(graph)
    parent = _post_dominators(graph, order)
    # Pairs (decision node, outcome) for each node, collected by walks up the tree from each successor of a decision.
    direct: list[list[tuple[int, bool]]] = [[] for _ in graph.site]
    for node in sorted(reached):
        if len(graph.successors[node]) < 2:
            continue
        # The nodes from a successor up to, but not including, the decision's parent depend on this outcome.
        stop = parent[node]
        for successor, outcome in graph.successors[node]:
            runner = successor
            while runner not in (stop, 1) and runner >= 0:
                pair = (node, bool(outcome))
                if pair not in direct[runner]:
                    direct[runner].append(pair)
                runner = parent[runner]
    nodes_of: dict[int, list[int]] = {}
    for node in sorted(reached):
        if graph.site[node] >= 0:
            nodes_of.setdefault(graph.site[node], []).append(node)
    found: dict[int, Dependence] = {}
    for site in sorted(nodes_of):
        if site != graph.entry:
            pairs = _pairs(graph, direct, nodes_of[site], graph.order.get(site, site), found)
            found[site] = tuple(sorted(pairs)) or ((graph.entry, True),)
    return found


def _pairs(
    graph: Graph,
    direct: list[list[tuple[int, bool]]],
    nodes: list[int],
    limit: int,
    found: Mapping[int, Dependence],
) -> set[tuple[int, bool]]:
    """Return the pairs with sites smaller than `limit` that the nodes of one site depend on.

    A decision without a site is replaced by its own dependences. If some paths lead through exceptions and others do
    not, only the others count, because the way to raise the exception is unknown.
    """
    regular: set[tuple[int, bool]] = set()
    exceptional: set[tuple[int, bool]] = set()
    open_nodes = [(node, False) for node in nodes]
    seen = set(open_nodes)
    while open_nodes:
        node, by_exception = open_nodes.pop()
        for decision, outcome in direct[node]:
            # Node 0 decides whether the function is called at all.
            site = graph.entry if decision == 0 else graph.site[decision]
            if site >= 0:
                # Larger sites are back edges of loops, see the module docstring.
                if site < limit:
                    (exceptional if by_exception else regular).add((site, outcome))
                continue
            onward = (decision, by_exception or (decision in graph.may_raise and not outcome))
            if onward not in seen:
                seen.add(onward)
                open_nodes.append(onward)
    pairs = _either_way(regular or exceptional, found)
    if regular:
        return pairs
    # If several statements may raise, the one that is easiest to reach is enough.
    return {pair for pair in pairs if not (_behind(pair[0], found) & (pairs - {pair}))}


def _either_way(pairs: set[tuple[int, bool]], found: Mapping[int, Dependence]) -> set[tuple[int, bool]]:
    """Replace both outcomes of a decision by the dependences of the decision."""
    while True:
        both = [site for site, outcome in pairs if outcome and (site, False) in pairs]
        if not both:
            return pairs
        site = max(both)
        pairs = (pairs - {(site, True), (site, False)}) | set(found.get(site, ()))


def _behind(site: int, found: Mapping[int, Dependence]) -> set[tuple[int, bool]]:
    """Return all direct and indirect dependences of a site."""
    pairs: set[tuple[int, bool]] = set()
    open_sites = [site]
    while open_sites:
        for pair in found.get(open_sites.pop(), ()):
            if pair not in pairs:
                pairs.add(pair)
                open_sites.append(pair[0])
    return pairs


def _post_order(graph: Graph) -> tuple[list[int], set[int]]:
    """Return the nodes reachable from the start, in post-order of the reversed graph.

    A node that cannot reach the end first gets an edge to the end.
    """
    reached = _closure(graph.successors, 0)
    while True:
        predecessors: list[list[int]] = [[] for _ in graph.site]
        for node in sorted(reached):
            for successor, _ in graph.successors[node]:
                predecessors[successor].append(node)
        order = _depth_first(predecessors, 1)
        lost = reached - set(order)
        if not lost:
            return order, reached
        # Prefer nodes other than infection sites, so that the result does not depend on whether infection is
        # instrumented.
        last = max(lost, key=lambda node: (graph.site[node] not in graph.order, node))
        graph.successors[last].append((1, None))


def _closure(successors: list[list[tuple[int, bool | None]]], start: int) -> set[int]:
    seen = {start}
    open_nodes = [start]
    while open_nodes:
        for successor, _ in successors[open_nodes.pop()]:
            if successor not in seen:
                seen.add(successor)
                open_nodes.append(successor)
    return seen


def _depth_first(edges: list[list[int]], start: int) -> list[int]:
    """Return the post-order of a depth-first walk."""
    order: list[int] = []
    seen = {start}
    stack = [(start, iter(edges[start]))]
    while stack:
        node, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(edges[following])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def _post_dominators(graph: Graph, order: list[int]) -> list[int]:
    """Return the immediate post-dominator of each node (the end: itself), -1 for nodes that are not reached."""
    rank = {node: position for position, node in enumerate(order)}
    parent = [-1] * len(graph.site)
    parent[1] = 1
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == 1:
                continue
            best = -1
            for successor, _ in graph.successors[node]:
                if parent[successor] < 0:
                    continue
                best = successor if best < 0 else _common_ancestor(parent, rank, best, successor)
            if best != parent[node]:
                parent[node] = best
                changed = True
    return parent


def _common_ancestor(parent: list[int], rank: dict[int, int], one: int, two: int) -> int:
    while one != two:
        while rank[one] < rank[two]:
            one = parent[one]
        while rank[two] < rank[one]:
            two = parent[two]
    return one
