"""Control dependence: which outcomes must occur before a site can be reached.

For every function a control flow graph is built from the syntax tree, with a node for each block and each atomic condition
(`and`, `or`, `not`, ternaries and comprehensions are unfolded). A node n is control dependent on the outcome o of a
decision d if taking o leads to n whatever else happens, while d itself can avoid n: n post-dominates the successor of d
under o, and does not strictly post-dominate d. Computed along the post-dominator tree.

References:
    Ferrante, Ottenstein and Warren 1987, The Program Dependence Graph and Its Use in Optimization, section 3.1.
    Cooper, Harvey and Kennedy 2001, A Simple, Fast Dominance Algorithm: post-dominators by iteration.

Differs from the paper in five points:
    - Some decisions have no site: whether a statement in a `try` raises, whether an exception class matches, whether an
      iterator has another element. What depends on such a decision takes over what the decision itself depends on.
      Ways through an exception only count where there is no other way.
    - A pair of both outcomes of one decision is replaced by what that decision depends on.
    - Dependences on a site with the same or a larger number are left out. They are those along back edges of loops (a
      loop's condition depends on the outcome that repeats it), as numbers follow the order of evaluation. What is left
      has no cycles, so approach levels are well defined.
    - A loop that the program never leaves (`while True`) is taken to end some time.
    - Exceptions that a statement outside `try` and `with` might raise are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fitgym.subject.subject import Branch, Function, Site
from fitgym.subject.syntax import constant_truth, deep_trees, docstring_end, irrefutable

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
    """What each site is control dependent on, by site id.

    An entry block depends on nothing; a site that runs whenever its function runs depends on `(entry block, True)`.

    Args:
        tree, at, blocks, entries, infection: the syntax tree of the module and where its sites are; see the plan of the
            probes.
        sites: by id.
        functions: by id.
    """
    entry_of = [function.entry for function in functions]
    found: list[Dependence] = [((entry_of[site.function], True),) for site in sites]
    for entry in entry_of:
        found[entry] = ()
    graphs = _Graphs(at, blocks, entries, infection)
    with deep_trees():
        graphs.of_module(tree)
    for graph in graphs.done:
        for site, dependence in _control_dependences(graph).items():
            found[site] = dependence
    return tuple(found)


def branches(
    sites: Sequence[Site], functions: Sequence[Function], within: str | tuple[int, int] | None = None
) -> tuple[Branch, ...]:
    """The entry of every function, then both outcomes of every deciding predicate, true first, in source order.

    Args:
        sites: by id.
        functions: by id.
        within: restricts to the methods of the class of this qualified name (and all functions and classes in it), or to
            the functions and predicates from the first to the last of two lines.
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


class _Graph:
    """A control flow graph. Nodes are numbered; node 0 is the start, node 1 the end."""

    def __init__(self, entry: int) -> None:
        self.entry = entry
        self.site: list[int] = [-1, -1]
        # For each node its successors, each with the outcome that leads there; None where there is nothing to decide.
        self.successors: list[list[tuple[int, bool | None]]] = [[], []]
        # Decisions whether a statement raises: true if it does not.
        self.may_raise: set[int] = set()
        # Sites of infection are numbered after all others; this is the number that each would have in order of evaluation.
        self.order: dict[int, int] = {}
        self.latest = -1

    def add(self, site: int = -1) -> int:
        if site not in self.order:
            self.latest = max(self.latest, site)
        self.site.append(site)
        self.successors.append([])
        return len(self.site) - 1


# A loose end of the graph: a node and the outcome with which it goes on. What comes next is attached to all of them.
_Ends = list[tuple[int, bool | None]]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What surrounds a statement.

    Attributes:
        leave: takes loose ends to where "return", "break", "continue" or "raise" leads.
        catching: collects the loose ends of statements that may raise; None where nothing looks at them.
    """

    leave: Callable[[str, _Ends], None]
    catching: _Ends | None


class _Graphs:
    """Builds one graph for each function of a module; class bodies belong to the function around them."""

    def __init__(
        self,
        at: Mapping[ast.AST, int],
        blocks: Mapping[ast.AST, int],
        entries: Mapping[ast.AST, int],
        infection: Mapping[ast.AST, int],
    ) -> None:
        self.done: list[_Graph] = []
        self._at = at
        self._blocks = blocks
        self._entries = entries
        self._infection = infection
        self._graph = _Graph(-1)
        self._frame = _Frame(lambda how, ends: None, None)
        # Each body of a `finally` is walked once for every way to reach it; the functions in it must be walked once only.
        self._walked: set[ast.AST] = set()

    def of_module(self, tree: ast.Module) -> None:
        """Build the graphs of the module body and of every function in it."""
        self._scope(tree, lambda ends: self._run(tree.body[docstring_end(tree.body) :], ends))

    def _scope(self, node: ast.AST, body: Callable[[_Ends], _Ends]) -> None:
        entry = self._entries.get(node)
        if entry is None or node in self._walked:
            return
        self._walked.add(node)
        outer = (self._graph, self._frame)
        graph = self._graph = _Graph(entry)
        self._frame = _Frame(lambda how, ends: self._attach(ends, 1), None)
        first = graph.add(entry)
        # The function may not be called at all: that makes everything that always runs depend on its entry.
        graph.successors[0] = [(first, True), (1, False)]
        self._attach(body([(first, None)]), 1)
        self.done.append(graph)
        self._graph, self._frame = outer

    # Nodes

    def _attach(self, ends: _Ends, node: int) -> None:
        for end, outcome in ends:
            if (node, outcome) not in self._graph.successors[end]:
                self._graph.successors[end].append((node, outcome))

    def _step(self, ends: _Ends, site: int = -1) -> _Ends:
        """A new node after the loose ends, and its own loose end."""
        node = self._graph.add(site)
        self._attach(ends, node)
        return [(node, None)]

    def _compute(self, node: ast.AST, ends: _Ends) -> _Ends:
        """After the parts of an expression: the expression itself, if it has a site of infection."""
        site = self._infection.get(node)
        if site is None:
            return ends
        self._graph.order.setdefault(site, self._graph.latest + 1)
        return self._step(ends, site)

    def _decide(self, ends: _Ends, site: int = -1) -> tuple[_Ends, _Ends]:
        """A new decision after the loose ends: its ends when true and when false."""
        node = self._graph.add(site)
        self._attach(ends, node)
        return [(node, True)], [(node, False)]

    # Statements

    def _run(self, body: list[ast.stmt], ends: _Ends) -> _Ends:
        """Statements that follow each other."""
        for statement in body:
            block = self._blocks.get(statement)
            if block is not None:
                ends = self._step(ends, block)
            if self._frame.catching is not None and ends:
                # The statement may raise at once.
                ends, raised = self._decide(ends)
                self._graph.may_raise.add(raised[0][0])
                self._frame.catching.extend(raised)
            ends = self._statement(statement, ends)
        return ends

    def _statement(self, node: ast.stmt, ends: _Ends) -> _Ends:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                ends = self._values([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults], ends)
                self._scope(node, lambda first: self._run(node.body[docstring_end(node.body) :], first))
            case ast.ClassDef():
                ends = self._values([*node.decorator_list, *node.bases, *node.keywords], ends)
                if node in self._entries:
                    ends = self._step(ends, self._entries[node])
                ends = self._run(node.body[docstring_end(node.body) :], ends)
            case ast.If():
                ends = self._if(node, ends)
            case ast.While():
                ends = self._while(node, ends)
            case ast.For() | ast.AsyncFor():
                ends = self._for(node, ends)
            case ast.With() | ast.AsyncWith():
                ends = self._with(node, ends)
            case ast.Try() | ast.TryStar():
                ends = self._try(node, ends)
            case ast.Match():
                ends = self._match(node, ends)
            case ast.Assert():
                ends, failed = self._test(node.test, ends)
                failed = self._values([node.msg], failed)
                self._frame.leave("raise", failed)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                ends = self._values(ast.iter_child_nodes(node), ends)
                self._frame.leave(type(node).__name__.lower(), ends)
                ends = []
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                ends = self._values([node.value, *targets], ends)
            case _ if type(node).__name__ == "TypeAlias":
                pass
            case _:
                ends = self._compute(node, self._values(ast.iter_child_nodes(node), ends))
        return ends

    def _if(self, node: ast.If, ends: _Ends) -> _Ends:
        yes, no = self._test(node.test, ends)
        return self._run(node.body, yes) + self._run(node.orelse, no)

    def _while(self, node: ast.While, ends: _Ends) -> _Ends:
        again = self._graph.add()
        self._attach(ends, again)
        yes, no = self._test(node.test, [(again, True)])
        if not no:
            self._attach([(again, False)], 1)  # taken to end some time
        return self._body_and_else(node, again, yes, no)

    def _for(self, node: ast.For | ast.AsyncFor, ends: _Ends) -> _Ends:
        ends = self._values([node.iter], ends)
        entered, skipped = self._decide(ends, self._at.get(node, -1))
        round_ = self._graph.add()
        self._attach(entered, round_)
        # Whether there is another element is decided by the iterator, without a site.
        more, finished = self._decide([])
        self._attach(more, round_)
        first = self._values([node.target], [(round_, None)])
        return self._body_and_else(node, more[0][0], first, finished + skipped)

    def _body_and_else(self, node: ast.While | ast.For | ast.AsyncFor, again: int, yes: _Ends, no: _Ends) -> _Ends:
        """The body of a loop, which goes back to node `again`, and its `else`; what follows the loop."""
        broken: _Ends = []
        outer = self._frame

        def leave(how: str, ends: _Ends) -> None:
            if how == "break":
                broken.extend(ends)
            elif how == "continue":
                self._attach(ends, again)
            else:
                outer.leave(how, ends)

        self._frame = _Frame(leave, outer.catching)
        self._attach(self._run(node.body, yes), again)
        self._frame = outer
        return self._run(node.orelse, no) + broken

    def _with(self, node: ast.With | ast.AsyncWith, ends: _Ends) -> _Ends:
        for item in node.items:
            ends = self._values([item.context_expr, item.optional_vars], ends)
        outer = self._frame
        raised: _Ends = []
        self._frame = _Frame(outer.leave, raised)
        body = self._run(node.body, ends)
        self._frame = outer
        if outer.catching is not None:
            outer.catching.extend(raised)
        # Most context managers swallow nothing. That one does is assumed only where nothing else leads on.
        return body or raised

    def _try(self, node: ast.Try | ast.TryStar, ends: _Ends) -> _Ends:
        outer = self._frame
        left: dict[str, _Ends] = {}

        def into_finally(how: str, loose: _Ends) -> None:
            left.setdefault(how, []).extend(loose)

        after = into_finally if node.finalbody else outer.leave
        raised: _Ends = []

        def from_body(how: str, loose: _Ends) -> None:
            if how == "raise":
                raised.extend(loose)
            else:
                after(how, loose)

        self._frame = _Frame(from_body, raised)
        body = self._run(node.body, ends)
        # Handlers and the `else` part are no longer protected, but the `finally` part follows all of them.
        unprotected: _Ends | None = outer.catching
        if node.finalbody:
            unprotected = []
        self._frame = _Frame(after, unprotected)
        completed = self._run(node.orelse, body) if node.orelse else body
        waiting = raised
        for handler in node.handlers:
            if handler.type is None:
                completed = completed + self._run(handler.body, waiting)
                waiting = []
                break
            if handler in self._blocks:
                waiting = self._step(waiting, self._blocks[handler])
            waiting = self._values([handler.type], waiting)
            caught, waiting = self._decide(waiting)
            completed = completed + self._run(handler.body, caught)
        if waiting:
            after("raise", waiting)
        self._frame = outer
        if not node.finalbody:
            return completed
        if unprotected:
            into_finally("raise", unprotected)
        for how, loose in left.items():
            outer.leave(how, self._run(node.finalbody, loose))
        return self._run(node.finalbody, completed)

    def _match(self, node: ast.Match, ends: _Ends) -> _Ends:
        ends = self._values([node.subject], ends)
        completed: _Ends = []
        for case in node.cases:
            if case in self._blocks:
                ends = self._step(ends, self._blocks[case])
            missed: _Ends = []
            if not irrefutable(case.pattern):
                ends, missed = self._decide(ends, self._at.get(case, -1))
            if case.guard is not None:
                ends, failed = self._test(case.guard, ends)
                missed = missed + failed
            completed += self._run(case.body, ends)
            ends = missed
        return completed + ends

    # Expressions

    def _values(self, nodes: Iterable[ast.AST | None], ends: _Ends) -> _Ends:
        for node in nodes:
            if isinstance(node, (ast.expr, ast.keyword)):
                ends = self._value(node, ends)
        return ends

    def _value(self, node: ast.AST, ends: _Ends) -> _Ends:
        match node:
            case ast.BoolOp():
                return self._short_circuit(node, ends)
            case ast.IfExp():
                yes, no = self._test(node.test, ends)
                return self._value(node.body, yes) + self._value(node.orelse, no)
            case ast.Lambda():
                ends = self._values([*node.args.defaults, *node.args.kw_defaults], ends)
                self._scope(node, lambda first: self._value(node.body, first))
                return ends
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node, ends)
            case ast.Constant():
                return ends
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.keyword)):
                ends = self._value(child, ends)
        ends = self._compute(node, ends)
        if node in self._at:
            ends = self._step(ends, self._at[node])
        return ends

    def _short_circuit(self, node: ast.BoolOp, ends: _Ends) -> _Ends:
        """`and`, `or` as a value: every operand but the last decides whether the next one is evaluated."""
        over: _Ends = []
        for operand in node.values[:-1]:
            yes, no = self._test(operand, ends)
            ends, done = (yes, no) if isinstance(node.op, ast.And) else (no, yes)
            over += done
        return self._value(node.values[-1], ends) + over

    def _test(self, node: ast.expr, ends: _Ends) -> tuple[_Ends, _Ends]:
        """A condition: its loose ends when true and when false."""
        decided = constant_truth(node)
        if decided is not None:
            return (ends, []) if decided else ([], ends)
        match node:
            case ast.UnaryOp(op=ast.Not()):
                yes, no = self._test(node.operand, ends)
                return no, yes
            case ast.BoolOp():
                over: _Ends = []
                for operand in node.values:
                    yes, no = self._test(operand, ends)
                    ends, done = (yes, no) if isinstance(node.op, ast.And) else (no, yes)
                    over += done
                return (ends, over) if isinstance(node.op, ast.And) else (over, ends)
            case ast.IfExp():
                first, second = self._test(node.test, ends)
                first_yes, first_no = self._test(node.body, first)
                second_yes, second_no = self._test(node.orelse, second)
                return first_yes + second_yes, first_no + second_no
            case ast.Compare():
                ends = self._values([node.left, *node.comparators], ends)
            case _:
                site = self._at.get(node)
                ends = self._children(node, ends)
                return self._decide(ends, -1 if site is None else site)
        return self._decide(ends, self._at.get(node, -1))

    def _children(self, node: ast.expr, ends: _Ends) -> _Ends:
        """The parts of an expression without its own site."""
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return self._value(node, ends)
        return self._compute(node, self._values(ast.iter_child_nodes(node), ends))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, ends: _Ends) -> _Ends:
        """Nested loops, each of which may go on or end without a site."""
        headers: list[int] = []
        over: _Ends = []
        for depth, clause in enumerate(node.generators):
            ends = self._value(clause.iter, ends)
            header = self._graph.add()
            self._attach(ends, header)
            finished: _Ends = [(header, False)]
            if depth:
                self._attach(finished, headers[-1])
            else:
                over = finished
            headers.append(header)
            ends = [(header, True)]
            if clause in self._blocks:
                ends = self._step(ends, self._blocks[clause])
            ends = self._value(clause.target, ends)
            for condition in clause.ifs:
                ends, dropped = self._test(condition, ends)
                self._attach(dropped, header)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        ends = self._values(parts, ends)
        self._attach(ends, headers[-1])
        return over


def _control_dependences(graph: _Graph) -> dict[int, Dependence]:
    """For each site of the graph the pairs it is control dependent on."""
    order, reached = _post_order(graph)
    parent = _post_dominators(graph, order)
    # Pairs (decision node, outcome) for each node, from walking up the tree from each successor of a decision.
    direct: list[list[tuple[int, bool]]] = [[] for _ in graph.site]
    for node in sorted(reached):
        if len(graph.successors[node]) < 2:
            continue
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
    graph: _Graph,
    direct: list[list[tuple[int, bool]]],
    nodes: list[int],
    limit: int,
    found: Mapping[int, Dependence],
) -> set[tuple[int, bool]]:
    """The pairs with sites smaller than `limit` that the nodes of one site depend on.

    Decisions without a site are passed through to what they depend on. Where exceptions are one way among others,
    the others count, because nothing is known about how to raise one.
    """
    regular: set[tuple[int, bool]] = set()
    exceptional: set[tuple[int, bool]] = set()
    open_nodes = [(node, False) for node in nodes]
    seen = set(open_nodes)
    while open_nodes:
        node, by_exception = open_nodes.pop()
        for decision, outcome in direct[node]:
            site = graph.entry if decision == 0 else graph.site[decision]
            if site >= 0:
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
    # Of several statements that may raise, the one that is easiest to reach is enough.
    return {pair for pair in pairs if not (_behind(pair[0], found) & (pairs - {pair}))}


def _either_way(pairs: set[tuple[int, bool]], found: Mapping[int, Dependence]) -> set[tuple[int, bool]]:
    """The same with both outcomes of a decision replaced by what the decision depends on."""
    while True:
        both = [site for site, outcome in pairs if outcome and (site, False) in pairs]
        if not both:
            return pairs
        site = max(both)
        pairs = (pairs - {(site, True), (site, False)}) | set(found.get(site, ()))


def _behind(site: int, found: Mapping[int, Dependence]) -> set[tuple[int, bool]]:
    """Everything that a site depends on, through others as well."""
    pairs: set[tuple[int, bool]] = set()
    open_sites = [site]
    while open_sites:
        for pair in found.get(open_sites.pop(), ()):
            if pair not in pairs:
                pairs.add(pair)
                open_sites.append(pair[0])
    return pairs


def _post_order(graph: _Graph) -> tuple[list[int], set[int]]:
    """The nodes that can be reached from the start, in post-order of the reversed graph; a node that cannot reach the
    end is given a way there first."""
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
        # Not behind sites of infection, so that it changes nothing whether that has sites.
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
    """Post-order of a depth-first walk."""
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


def _post_dominators(graph: _Graph, order: list[int]) -> list[int]:
    """The immediate post-dominator of each node (of the end: itself), -1 for nodes that are not reached."""
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
