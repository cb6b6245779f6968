"""Calls of sortedcontainers; see `workload.py` for the format."""

PARTS = {
    "sortedcontainers.sortedlist": r"""
SortedList()
s = SortedList([3, 1, 2]); len(s); s[0]; s[-1]; list(s)
s = SortedList([3, 1, 2]); s.add(0); s.add(4); s.add(2); list(s)
s = SortedList([5]); s.add(1); s.remove(5); s.remove(1); len(s)
s = SortedList([1, 2]); s.remove(9)
s = SortedList(); s.remove(1)
s = SortedList([1, 2, 3]); s.discard(2); s.discard(7); s.discard(3); list(s)
s = SortedList(); s.discard(1); 1 in s; s.count(1)
s = SortedList([1, 2, 2, 3]); 2 in s; 5 in s; s.count(2); s.count(9); 0 in s
s = SortedList([1, 3, 5, 7]); s.bisect_left(3); s.bisect_right(3); s.bisect(0); s.bisect_left(9); s.bisect_right(9)
s = SortedList([1, 3, 5, 7]); s.index(5); s.index(1, 0, 2); s.index(7, -2)
s = SortedList([1, 3, 5, 7]); s.index(4)
s = SortedList([1, 3, 5, 7]); s.index(5, 3, 1)
s = SortedList([1, 3, 5, 7]); s.index(9)
s = SortedList(); s.index(1)
s = SortedList([4, 3, 2, 1]); s.pop(); s.pop(0); s.pop(-1); s.pop()
s = SortedList([1, 2, 3]); s.pop(1); s.pop(5)
s = SortedList(); s.pop()
s = SortedList([2, 1]); s.update([4, 3]); s.update([]); s.update(range(8)); list(s)
s = SortedList(range(20)); s[3]; s[2:9]; s[::3]; s[::-1]; s[15:3:-4]; s[-5:]
s = SortedList(range(20)); del s[0]; del s[-1]; del s[4:8]; del s[::2]; list(s)
s = SortedList([1]); s[4]
s = SortedList([1]); del s[3]
s = SortedList([1]); s[0] = 5
s = SortedList([1]); s.append(2)
s = SortedList([1]); s.insert(0, 1)
s = SortedList([1]); s.extend([2])
s = SortedList([1]); s.reverse()
s = SortedList([1, 2]); s.clear(); len(s); list(reversed(s))
s = SortedList([1, 2]); t = s.copy(); s == t; s != t; s < [1, 3]; s >= [1, 2]; s <= (1,); s > [0, 9, 9]
s = SortedList([1, 2]); s == 5
s = SortedList([1, 2]); s + [3, 0]; s * 3; s += [9]; s *= 2; list(s)
s = SortedList("hello"); repr(s); str(s); s.count("l"); s.index("o")
s = SortedList([1.5, -2.0, 3.25]); list(s.irange(-2, 2)); list(s.irange(-2, 2, (False, True))); list(s.irange(reverse=True))
s = SortedList(range(9)); list(s.islice(2, 5)); list(s.islice(stop=3)); list(s.islice(4, reverse=True)); list(s.islice(8, 2))
s = SortedList(range(9)); list(s.irange(3)); list(s.irange(None, 4)); list(s.irange(3, 1)); list(s.irange(3, 6, (False, False)))
s = SortedList([1, "a"])
s = SortedList(range(30)); s._reset(4); s.add(7); s.add(-1); s.add(99); s._check()
s = SortedList(range(30)); s._reset(4); s.remove(3); s.remove(29); s.remove(0); s[11]; s.index(12); s._check()
s = SortedList(range(40)); s._reset(5); s.bisect_left(17); s.bisect_right(33); s.count(8); s[25]; s[3:30:4]
s = SortedList(range(40)); s._reset(5); s.pop(20); s.pop(0); s.pop(); s.update(range(12)); s._check()
s = SortedList([0] * 12); s._reset(4); s.count(0); s.add(0); s.discard(0); s.index(0)
s = SortedKeyList([3, -1, 2], key=abs); list(s); s.add(-5); s.add(0); s[0]; s.key
s = SortedKeyList(["bb", "a", "ccc"], key=len); s.add("dd"); "bb" in s; "zz" in s; s.count("dd"); s.index("ccc")
s = SortedKeyList([1, 2, 3], key=lambda v: -v); s.remove(2); s.discard(9); s.bisect(2); s.bisect_key(-2); list(s)
s = SortedKeyList([1, 2, 3], key=lambda v: -v); s.remove(7)
s = SortedKeyList([5, 6, 7], key=lambda v: v % 3); list(s.irange_key(0, 1)); list(s.irange(5, 7)); s.bisect_key_left(1); s.bisect_key_right(1)
s = SortedKeyList([2, 1]); s.update([0, 5]); s.copy(); s + [9]; s * 2; repr(s); s.clear()
s = SortedKeyList(range(25), key=lambda v: v // 2); s._reset(4); s.add(7); s.remove(3); s.count(9); s.pop(5); s._check()
s = SortedKeyList(); s.pop()
""",
    "sortedcontainers.sorteddict": r"""
SortedDict()
d = SortedDict(b=2, a=1); list(d); d["a"]; len(d)
d = SortedDict({3: "c", 1: "a"}); d[2] = "b"; list(d.items()); list(d.values()); list(d.keys())
d = SortedDict({3: "c", 1: "a"}); d[9]
d = SortedDict({3: "c", 1: "a"}); del d[3]; 3 in d; del d[3]
d = SortedDict([(2, 0), (1, 5)]); d.pop(2); d.pop(7, None); d.pop(8)
d = SortedDict({1: 1, 2: 2, 3: 3}); d.popitem(); d.popitem(0); d.popitem(); d.popitem()
d = SortedDict({1: 1, 2: 2}); d.peekitem(); d.peekitem(0); d.peekitem(5)
d = SortedDict({1: 1}); d.setdefault(1, 9); d.setdefault(2, 9); d.setdefault(3); list(d)
d = SortedDict(); d.update({2: 3}); d.update([(1, 4)], ); d.update(); d.update({5: 6, 4: 3, 9: 1}); list(d)
d = SortedDict({1: 2}); e = d.copy(); d == e; e.clear(); len(e); d != e
d = SortedDict.fromkeys([3, 1, 2], 0); repr(d); list(reversed(d))
d = SortedDict({1: 2}); d | {3: 4}; {0: 0} | d; d |= {5: 6}; list(d)
d = SortedDict({1: 2}); d | 5
d = SortedDict(abs, {-3: 1, 2: 2}); list(d); d.key; d.index(-3); d.bisect(2)
d = SortedDict({1: "x", 2: "y"}); k = d.keys(); k[0]; k[-1]; 1 in k; len(k)
d = SortedDict({1: "x", 2: "y"}); i = d.items(); i[0]; (1, "x") in i; len(i); i[0:2]
d = SortedDict({1: "x", 2: "y"}); v = d.values(); v[1]; list(v); len(v)
d = SortedDict({4: 4, 2: 2, 8: 8}); list(d.irange(3, 9)); d.bisect_left(4); d.bisect_right(4); d.index(8); d._check()
d = SortedDict([1, 2])
""",
}
