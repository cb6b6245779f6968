"""Calls of packaging; see `workload.py` for the format."""

PARTS = {
    "packaging.version": r"""
parse("1.0")
parse("1.2.3"); parse("2024.1"); parse("0")
parse("1.0a1"); parse("1.0b2"); parse("1.0rc3")
parse("1.0.alpha.1"); parse("1.0-beta_2"); parse("1.0preview4")
parse("1.0.post1"); parse("1.0-1"); parse("1.0rev4"); parse("1.0.r5")
parse("1.0.dev3"); parse("1.0dev"); parse("1.0a1.dev2")
parse("1!2.0"); parse("3!1.0.post2.dev1")
parse("1.0+local.7"); parse("1.0+ubuntu-1"); parse("1.0+1.2.abc")
parse("v1.0"); parse("  1.0  "); parse("V2.0RC1")
parse("french toast")
parse("1.0+a+")
parse("")
parse("1..0")
parse("1.0.0.0.0.0.0")
v = parse("1!2.3.4rc5.post6.dev7+local.8"); v.epoch; v.release; v.pre; v.post; v.dev; v.local; v.public
v = parse("1.2.3"); v.major; v.minor; v.micro; v.base_version; str(v); repr(v)
v = parse("1"); v.major; v.minor; v.micro
v = parse("1.0a1"); v.is_prerelease; v.is_postrelease; v.is_devrelease
v = parse("1.0.post1"); v.is_prerelease; v.is_postrelease; v.is_devrelease
v = parse("1.0.dev1"); v.is_prerelease; v.is_postrelease; v.is_devrelease
v = parse("1.0+abc.5"); v.local; v.public; v.base_version; str(v)
v = parse("2!0.1a2.post3.dev4+z.9"); str(v); v.public; v.base_version; hash(v)
parse("1.0") == parse("1.0.0"); parse("1.0") == parse("1"); parse("1.0") != parse("1.1")
parse("1.0") < parse("1.1"); parse("1.10") > parse("1.9"); parse("2.0") >= parse("2.0"); parse("2.0") <= parse("1.9")
parse("1.0a1") < parse("1.0b1"); parse("1.0b1") < parse("1.0rc1"); parse("1.0rc1") < parse("1.0")
parse("1.0.dev1") < parse("1.0a1"); parse("1.0") < parse("1.0.post1"); parse("1.0.post1.dev2") < parse("1.0.post1")
parse("1.0+a") > parse("1.0"); parse("1.0+2") > parse("1.0+a"); parse("1.0+a.1") > parse("1.0+a")
parse("1!0.1") > parse("9.9"); parse("1!0.1") < parse("2!0.0")
parse("1.0") == "1.0"
parse("1.0") < "1.1"
parse("1.0") >= 3
hash(parse("1.0")) == hash(parse("1.0.0")); hash(parse("1.0a1"))
Version("4.5.6"); Version("4.5.6.dev0")
Version("not a version")
Version("1.0.*")
Version(None)
v = Version("1.2.3"); w = Version("1.2.4"); max(v, w); min(v, w); sorted([w, v])
sorted([parse("1.0"), parse("1.0rc1"), parse("1.0.dev1"), parse("1.0.post1"), parse("0.9")])
max([parse("2.0"), parse("10.0"), parse("9.0")]); min([parse("1a1"), parse("1a2"), parse("1b1")])
normalize_pre("alpha"); normalize_pre("BETA"); normalize_pre("c"); normalize_pre("preview"); normalize_pre("x")
v = parse("1.2.3"); v.__replace__(release=(4, 5)); v.__replace__(pre=("rc", 1)); v.__replace__(dev=2)
v = parse("1.2.3"); v.__replace__(epoch=1, post=3); v.__replace__(local="abc.1"); v.__replace__(local=None)
v = parse("1.2.3"); v.__replace__(epoch=-1)
v = parse("1.2.3"); v.__replace__(release=())
v = parse("1.2.3"); v.__replace__(pre=("gamma", 1))
v = parse("1.2.3"); v.__replace__(post="x")
v = parse("1.2.3"); v.__replace__(local="!!")
v = parse("1.2.3rc1"); v.__replace__(pre=None); v.__replace__(pre=("alpha", 0))
v = parse("1.0"); v.major = 2
a = parse("1.0"); b = parse("1.0.1"); a == b; a < b; a <= b; a > b; a >= b; a != b
a = parse("3.0rc1"); b = parse("3.0"); a < b; b.is_prerelease; a.is_prerelease; a.pre; b.pre
a = parse("0.0.1"); b = parse("0.0.1+x"); a == b; a < b; a.public == b.public; b.local
a = parse("2020.12.31"); b = parse("2021.1.1"); a < b; a.release; b.release; a.micro
v = parse("1.0"); str(v); str(v); hash(v); hash(v); v == v; v < v
v = parse("1.0.0.0"); v.release; v == parse("1"); hash(v) == hash(parse("1"))
v = parse("1.0RC1"); str(v); v.pre; v == parse("1.0c1"); v == parse("1.0-pre1")
v = parse("1.0.Post1"); str(v); v.post; v == parse("1.0-1"); v == parse("1.0.r1")
v = parse("1.0_dev_4"); str(v); v.dev
v = parse("1.0+Ubuntu_4-5"); str(v); v.local
v = parse("1.0a"); str(v); v.pre; v = parse("1.0.post"); v.post; v = parse("1.0.dev"); v.dev
parse("1.0.0-alpha.1")
parse("1.0-rc-1.post-2.dev-3"); parse("1.0.a.1"); parse("1.0_b_2")
parse("00001.00002"); parse("1.0a00003"); parse("1.0+007")
parse("12345678901234567890.0"); parse("1.0.post12345678901234567890")
v = parse("5.0b3.post2"); v.is_prerelease; v.is_postrelease; v.base_version; v.public; repr(v); str(v)
v = parse("5.0b3.dev1"); w = parse("5.0b3"); v < w; w > v; v == w; v.dev; w.dev
""",
}
