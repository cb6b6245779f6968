"""Control flow: a graph for each function of a module, built from the syntax tree.

A graph has a node for each block and each atomic condition. The builder unfolds `and`, `or`, `not`, ternaries and
comprehensions into separate decisions. Three simplifications:

- A loop that the program never leaves (`while True`) is assumed to end.
- A statement inside `try` or `with` may raise, before it does anything else. Statements outside cannot raise.
- A context manager swallows exceptions only where the code after the `with` has no other predecessor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fitgym.subject.code.syntax import constant_truth, docstring_end, irrefutable
from fitgym.subject.code.tables import is_table

__all__ = ["Graph", "Graphs"]


class Graph:
    """The control flow graph of one function. Nodes are numbered; node 0 is the start, node 1 the end.

    Attributes:
        entry: the site of the function's entry block.
        site: the site of each node, -1 for a node without a site.
        successors: for each node its successors, each with the outcome that leads there; None without a decision.
        may_raise: the decisions whether a statement raises; the outcome is true if the statement does not raise.
        order: for each infection site, the number that it would have in order of evaluation. Infection sites are
            numbered after all other sites.
        latest: the largest site so far, excluding infection sites.
    """

    def __init__(self, entry: int) -> None:
        self.entry = entry
        self.site: list[int] = [-1, -1]
        self.successors: list[list[tuple[int, bool | None]]] = [[], []]
        self.may_raise: set[int] = set()
        self.order: dict[int, int] = {}
        self.latest = -1

    def add(self, site: int = -1) -> int:
        """Add a node with this site. Returns its number."""
        if site not in self.order:
            self.latest = max(self.latest, site)
        self.site.append(site)
        self.successors.append([])
        return len(self.site) - 1


# A loose end of the graph: a node and the outcome that leads on. The next node is attached to all loose ends.
Ends = list[tuple[int, bool | None]]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The context of a statement.

    Attributes:
        leave: attaches loose ends to the target of "return", "break", "continue" or "raise".
        catching: collects the loose ends of statements that may raise; None if exceptions are ignored.
    """

    leave: Callable[[str, Ends], None]
    catching: Ends | None


class Graphs:
    """Builds one graph for each function of a module. A class body belongs to the enclosing function.

    Args:
        at, blocks, entries, infection: the sites of the syntax tree's nodes; see
            `fitgym.instrument.rewriting.plan.Plan`.

    Attributes:
        done: the finished graphs. The graph of an inner function precedes the graph of its enclosing function.
    """

    def __init__(
        self,
        at: Mapping[ast.AST, int],
        blocks: Mapping[ast.AST, int],
        entries: Mapping[ast.AST, int],
        infection: Mapping[ast.AST, int],
    ) -> None:
        self.done: list[Graph] = []
        self._at = at
        self._blocks = blocks
        self._entries = entries
        self._infection = infection
        self._graph = Graph(-1)
        self._frame = _Frame(lambda how, ends: None, None)
        # The body of a `finally` is walked once for every path that reaches it. Functions in it must be walked only
        # once.
        self._walked: set[ast.AST] = set()

    def of_module(self, tree: ast.Module) -> None:
        """Build the graphs of the module body and of every function in it."""
        self._scope(tree, lambda ends: self._run(tree.body[docstring_end(tree.body) :], ends))

    def _scope(self, node: ast.AST, body: Callable[[Ends], Ends]) -> None:
        entry = self._entries.get(node)
        if entry is None or node in self._walked:
            return
        self._walked.add(node)
        outer = (self._graph, self._frame)
        graph = self._graph = Graph(entry)
        self._frame = _Frame(lambda how, ends: self._attach(ends, 1), None)
        first = graph.add(entry)
        # The edge for "not called" makes every site that always runs depend on the entry of its function.
        graph.successors[0] = [(first, True), (1, False)]
        self._attach(body([(first, None)]), 1)
        self.done.append(graph)
        self._graph, self._frame = outer

    # Nodes

    def _attach(self, ends: Ends, node: int) -> None:
        for end, outcome in ends:
            if (node, outcome) not in self._graph.successors[end]:
                self._graph.successors[end].append((node, outcome))

    def _step(self, ends: Ends, site: int = -1) -> Ends:
        """Add a node after the loose ends. Returns its own loose end."""
        node = self._graph.add(site)
        self._attach(ends, node)
        return [(node, None)]

    def _compute(self, node: ast.AST, ends: Ends) -> Ends:
        """Add the infection site of an expression, if it has one, after its parts."""
        site = self._infection.get(node)
        if site is None:
            return ends
        self._graph.order.setdefault(site, self._graph.latest + 1)
        return self._step(ends, site)

    def _decide(self, ends: Ends, site: int = -1) -> tuple[Ends, Ends]:
        """Add a decision after the loose ends. Returns its loose ends for true and for false."""
        node = self._graph.add(site)
        self._attach(ends, node)
        return [(node, True)], [(node, False)]

    # Statements

    def _run(self, body: list[ast.stmt], ends: Ends) -> Ends:
        """Add statements in sequence."""
        for statement in body:
            block = self._blocks.get(statement)
            if block is not None:
                ends = self._step(ends, block)
            if self._frame.catching is not None and ends:
                # The statement may raise before it has any effect.
                ends, raised = self._decide(ends)
                self._graph.may_raise.add(raised[0][0])
                self._frame.catching.extend(raised)
            ends = self._statement(statement, ends)
        return ends

    def _statement(self, node: ast.stmt, ends: Ends) -> Ends:
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

    def _if(self, node: ast.If, ends: Ends) -> Ends:
        yes, no = self._test(node.test, ends)
        return self._run(node.body, yes) + self._run(node.orelse, no)

    def _while(self, node: ast.While, ends: Ends) -> Ends:
        again = self._graph.add()
        self._attach(ends, again)
        yes, no = self._test(node.test, [(again, True)])
        if not no:
            self._attach([(again, False)], 1)  # assumed to end
        return self._body_and_else(node, again, yes, no)

    def _for(self, node: ast.For | ast.AsyncFor, ends: Ends) -> Ends:
        ends = self._values([node.iter], ends)
        entered, skipped = self._decide(ends, self._at.get(node, -1))
        round_ = self._graph.add()
        self._attach(entered, round_)
        # The iterator decides whether there is another element; this decision has no site.
        more, finished = self._decide([])
        self._attach(more, round_)
        first = self._values([node.target], [(round_, None)])
        return self._body_and_else(node, more[0][0], first, finished + skipped)

    def _body_and_else(self, node: ast.While | ast.For | ast.AsyncFor, again: int, yes: Ends, no: Ends) -> Ends:
        """Add the body of a loop, which returns to node `again`, and its `else`. Returns the ends after the loop."""
        broken: Ends = []
        outer = self._frame

        def leave(how: str, ends: Ends) -> None:
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

    def _with(self, node: ast.With | ast.AsyncWith, ends: Ends) -> Ends:
        for item in node.items:
            ends = self._values([item.context_expr, item.optional_vars], ends)
        outer = self._frame
        raised: Ends = []
        self._frame = _Frame(outer.leave, raised)
        body = self._run(node.body, ends)
        self._frame = outer
        if outer.catching is not None:
            outer.catching.extend(raised)
        # Most context managers suppress no exception. The builder assumes suppression only if no other path leads on.
        return body or raised

    def _try(self, node: ast.Try | ast.TryStar, ends: Ends) -> Ends:
        outer = self._frame
        left: dict[str, Ends] = {}

        def into_finally(how: str, loose: Ends) -> None:
            left.setdefault(how, []).extend(loose)

        after = into_finally if node.finalbody else outer.leave
        raised: Ends = []

        def from_body(how: str, loose: Ends) -> None:
            if how == "raise":
                raised.extend(loose)
            else:
                after(how, loose)

        self._frame = _Frame(from_body, raised)
        body = self._run(node.body, ends)
        # Handlers and the `else` part are no longer protected, but the `finally` part follows all of them.
        unprotected: Ends | None = outer.catching
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

    def _match(self, node: ast.Match, ends: Ends) -> Ends:
        ends = self._values([node.subject], ends)
        completed: Ends = []
        for case in node.cases:
            if case in self._blocks:
                ends = self._step(ends, self._blocks[case])
            missed: Ends = []
            if not irrefutable(case.pattern):
                ends, missed = self._decide(ends, self._at.get(case, -1))
            if case.guard is not None:
                ends, failed = self._test(case.guard, ends)
                missed = missed + failed
            completed += self._run(case.body, ends)
            ends = missed
        return completed + ends

    # Expressions

    def _values(self, nodes: Iterable[ast.AST | None], ends: Ends) -> Ends:
        for node in nodes:
            if isinstance(node, (ast.expr, ast.keyword)):
                ends = self._value(node, ends)
        return ends

    def _value(self, node: ast.AST, ends: Ends) -> Ends:
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
        for child in () if is_table(node) else ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.keyword)):
                ends = self._value(child, ends)
        ends = self._compute(node, ends)
        if node in self._at:
            ends = self._step(ends, self._at[node])
        return ends

    def _short_circuit(self, node: ast.BoolOp, ends: Ends) -> Ends:
        """Add `and` or `or` as a value: every operand but the last decides whether the next one is evaluated."""
        over: Ends = []
        for operand in node.values[:-1]:
            yes, no = self._test(operand, ends)
            ends, done = (yes, no) if isinstance(node.op, ast.And) else (no, yes)
            over += done
        return self._value(node.values[-1], ends) + over

    def _test(self, node: ast.expr, ends: Ends) -> tuple[Ends, Ends]:
        """Add a condition. Returns its loose ends for true and for false."""
        decided = constant_truth(node)
        if decided is not None:
            return (ends, []) if decided else ([], ends)
        match node:
            case ast.UnaryOp(op=ast.Not()):
                yes, no = self._test(node.operand, ends)
                return no, yes
            case ast.BoolOp():
                over: Ends = []
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

    def _children(self, node: ast.expr, ends: Ends) -> Ends:
        """Add the parts of an expression without its own site."""
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return self._value(node, ends)
        return self._compute(node, self._values(ast.iter_child_nodes(node), ends))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, ends: Ends) -> Ends:
        """Add nested loops, each of which continues or ends without a site."""
        headers: list[int] = []
        over: Ends = []
        for depth, clause in enumerate(node.generators):
            ends = self._value(clause.iter, ends)
            header = self._graph.add()
            self._attach(ends, header)
            finished: Ends = [(header, False)]
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
