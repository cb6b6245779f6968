"""Calls of docstring_parser; see `workload.py` for the format.

No call composes a docstring with an example: there, code instrumented by Pynguin 0.48 crashes the interpreter (Python
3.11).
"""

PARTS = {
    "docstring_parser.google": r"""
parse(None)
parse("")
parse("Short.")
parse("Short.\n\nLong description\nof two lines.")
parse("Short.\nNo blank line.\n\n")
parse("\n    Indented.\n\n    More.\n    ")
parse("Short.\n\nArgs:\n    x: the x")
parse("Short.\n\nArgs:\n    x (int): the x\n    y (str, optional): the y. Defaults to None.")
parse("Short.\n\nArgs:\n    x (int?): the x\n    *args: the rest\n    **kwargs: named ones")
parse("Short.\n\nArgs:\n    x: one\n        two\n        three\n    y: four")
parse("Args:\n    x: the x")
parse("Short.\n\nArguments:\n    x (List[int]): many\n\nReturns:\n    int: how many")
parse("Short.\n\nReturns:\n    nothing at all")
parse("Short.\n\nReturns:\n    a: b: c")
parse("Short.\n\nYields:\n    int: the next one")
parse("Short.\n\nYields:\n    whatever comes")
parse("Short.\n\nRaises:\n    ValueError: if it is bad\n    KeyError: if it is gone")
parse("Short.\n\nRaises:\n    nothing here")
parse("Short.\n\nRaises:\n    OSError: so\n\nArgs:\n    x: y\n\nReturns:\n    z")
parse("Short.\n\nExample:\n    >>> f(1)\n    2")
parse("Short.\n\nExamples:\n    >>> f(1)\n    2\n\n    >>> f(2)\n    3")
parse("Short.\n\nAttributes:\n    a (int): first\n    b: second")
parse("Short.\n\nAttributes:\n    a (Dict[str, int], optional): a map. Defaults to {}.")
parse("Short.\n\nArgs:\n")
parse("Short.\n\nArgs:\nnot indented")
parse("Short.\n\nArgs:\n    no colon")
parse("Short.\n\nUnknown:\n    x: y\n\nArgs:\n    z: w")
parse("Short.\n\nArgs:\n    x: y\n\nSomething else.\n\nReturns:\n    z")
parse("Short.\n\nParams:\n    x (int): a number\n        over two lines\n\nExcept:\n    E: why")
parse("Short.\n\nParameters:\n    x: 1\n    y: 2\n    z: 3\n    u: 4\n    v: 5")
parse("Short.\n\nReturns:\n    Tuple[int, str]: both\n        of them")
parse("One line. Two sentences.\n\nThird.\n\nArgs:\n    a:\n    b: c")
parse("Short.\n\n\nArgs:\n    a: b\n\n\n\nReturns:\n    c\n\n\n")
parse("Short.\n    Args:\n        x: y")
parse("\tTabs.\n\n\tArgs:\n\t\tx: y")
d = parse("Short.\n\nArgs:\n    x (int): the x"); d.short_description; d.params; compose(d)
d = parse("Short.\n\nLong.\n\nReturns:\n    int: it"); d.returns; d.long_description; compose(d)
d = parse("Short.\n\nRaises:\n    E: e"); d.raises; compose(d)
d = parse("Short.\n\nYields:\n    int: it"); d.many_returns; compose(d)
d = parse("Short.\n\nArgs:\n    x (int, optional): a\n    y: b"); compose(d); compose(d, RenderingStyle.EXPANDED)
d = parse("Short.\n\nArgs:\n    x (int?): a. Defaults to 3."); compose(d, RenderingStyle.CLEAN); d.params[0].default
d = parse("Short.\n\nExample:\n    >>> 1"); d.examples; d.meta
d = parse("Short.\n\nAttributes:\n    a (int): b"); compose(d, indent="  ")
d = parse("Short.\nLong."); compose(d); d.blank_after_short_description
d = parse(None); compose(d); d.params; d.raises; d.returns; d.examples
d = parse("Short."); compose(d); d.style; d.description
d = parse("S.\n\nArgs:\n    a: 1\n    b: 2\n\nReturns:\n    c\n\nRaises:\n    D: e"); compose(d); compose(d, RenderingStyle.EXPANDED)
p = GoogleParser(); p.parse("S.\n\nArgs:\n    a: b")
p = GoogleParser(title_colon=False); p.parse("S.\n\nArgs\n    a: b\n\nReturns\n    c")
p = GoogleParser([Section("Notes", "note", SectionType.SINGULAR)]); p.parse("S.\n\nNotes:\n    some\n    text")
p = GoogleParser([Section("Keys", "key", SectionType.MULTIPLE)]); p.parse("S.\n\nKeys:\n    k: v\n    l: w")
p = GoogleParser(); p.add_section(Section("Note", "note", SectionType.SINGULAR)); p.parse("S.\n\nNote:\n    hear, hear")
p = GoogleParser(); p.add_section(Section("Warns", "warns", SectionType.SINGULAR_OR_MULTIPLE)); p.parse("S.\n\nWarns:\n    W: if")
p = GoogleParser(); p.parse(None); p.parse("A."); p.parse("B.\n\nC.")
p = GoogleParser([Section("Only", "param", SectionType.SINGULAR)]); p.parse("S.\n\nOnly:\n    this")
p = GoogleParser([Section("Errors", "raises", SectionType.SINGULAR)]); p.parse("S.\n\nErrors:\n    many")
parse("S.\n\nArgs:\n    a (int): b.\n        Defaults to 5.\n    c (str?): d\n\nReturns:\n    bool: e")
parse("S.\n\nRaises:\n    A: b\n        c\n    D: e\n\nExamples:\n    f\n\nYields:\n    g")
parse("Do this: and that.\n\nArgs:\n    url: http://a.b/c:d")
parse("S.\n\nReturns:\n    [x for x in y]: a list")
parse("S.\n\nReturns:\n    - one\n    - two")
d = parse("S.\n\nL.\n\nArgs:\n    x (int): y\n\nRaises:\n    Z: w"); d.meta; compose(d); parse(compose(d))
d = parse("S.\n\nArgs:\n    a: b\n\nReturns:\n    c: d\n\nYields:\n    e: f"); d.many_returns; d.returns; compose(d)
""",
}
