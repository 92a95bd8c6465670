"""The faults of random mutants: one change each, in a function of a file, put into live code.

What only an import runs stays as it is: the tables, defaults and decorators of a module. So do
sentences, as a typo in one is no fault, and `/`, as a path without its end may be a whole disk.
"""

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from types import CodeType, FunctionType
from typing import Any

_PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
]
_OTHER: dict[type[ast.AST], Any] = dict(_PAIRS) | {right: left for left, right in _PAIRS}
_CONDITIONS = {"test", "ifs", "guard"}
_LEFT_ALONE = {"annotation", "returns", "pattern", "format_spec"}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DROPPED = ast.Expr | ast.AugAssign | ast.Delete | ast.Raise | ast.Continue | ast.Break


@dataclass
class Edit(ast.NodeTransformer):
    """`new` in place of `old`, which is an expression or a statement of the file."""

    file: Path
    tree: ast.Module
    old: Any
    new: Any

    def __str__(self) -> str:
        source = self.file.read_text(encoding="utf-8").splitlines()[self.old.lineno - 1].strip()
        old, new = (shorten(ast.unparse(node), 60) for node in (self.old, self.new))
        return f"{self.file.relative_to(Path.cwd())}:{self.old.lineno}: {source}  # {old} -> {new}"

    @property
    def lines(self) -> set[tuple[str, int]]:
        return {(str(self.file), at) for at in range(self.old.lineno, self.old.end_lineno + 1)}

    def visit(self, node: Any) -> Any:
        if node is not self.old:
            return self.generic_visit(node)
        # The old code stays, where it is never run, so that each function keeps its closure.
        always = ast.Constant(True)
        if isinstance(node, ast.stmt):
            return ast.copy_location(ast.If(always, [self.new], [node]), node)
        return ast.copy_location(ast.IfExp(always, self.new, node), node)

    def put_in(self) -> None:
        """Changes the functions of this process, for good."""
        codes: dict[tuple[str, int], set[CodeType]] = {}
        tree = ast.fix_missing_locations(self.visit(self.tree))
        for code in codes_in(compile(tree, self.file, "exec")):
            codes.setdefault((code.co_qualname, code.co_firstlineno), set()).add(code)
        for live in gc.get_objects():
            if type(live) is FunctionType and live.__code__.co_filename == str(self.file):
                found = codes.get((live.__code__.co_qualname, live.__code__.co_firstlineno), ())
                # Of two lambdas in one line, nobody knows which is which.
                if len(found) == 1:
                    (live.__code__,) = found


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def edits(file: Path) -> list[Edit]:
    """All that can be changed in a file, in its order."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        Edit(file, tree, old, new)
        for old, is_condition in _places(tree, in_function=False)
        for new in (_instead_of(old), ast.UnaryOp(ast.Not(), old) if is_condition else None)
        if new
    ]


def _places(node: ast.AST, *, in_function: bool) -> Iterator[tuple[Any, bool]]:
    """All nodes in functions, each with whether it is a condition that can be negated."""
    for field, value in ast.iter_fields(node):
        inside = in_function or (field == "body" and isinstance(node, _FUNCTIONS))
        for child in value if isinstance(value, list) else [value]:
            # The constants of an f-string are parts of a sentence.
            is_part = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
            if is_part or field in _LEFT_ALONE or not isinstance(child, ast.AST):
                continue
            if inside:
                is_negated = isinstance(child, ast.Compare | ast.UnaryOp)
                yield child, field in _CONDITIONS and not is_negated
            yield from _places(child, in_function=inside)


def _instead_of(old: ast.AST) -> ast.AST | None:
    """What a fault has in its place."""
    new: ast.AST | None = ast.Pass() if isinstance(old, _DROPPED) else None
    match old:
        case ast.Expr(ast.Constant()):  # a docstring
            new = None
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            new = ast.Pass()
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            new = ast.Return(ast.Constant(None))
        case ast.Constant(value) if (other := _other(value)) is not None:
            new = ast.Constant(other)
        case ast.Compare(left, [op, *more], rights):
            new = ast.Compare(left, [_OTHER[type(op)](), *more], rights)
        case ast.BoolOp(op, values):
            new = ast.BoolOp(_OTHER[type(op)](), values)
        case ast.BinOp(left, op) if not isinstance(op, ast.Div):
            new = left
        case ast.UnaryOp(ast.Not(), operand):
            new = operand
    return new


def _other(value: object) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if " " not in value:
            return f"{value}X"
    return None
