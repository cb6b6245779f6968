"""Calls of semver; see `workload.py` for the format."""

PARTS = {
    "semver.version": r"""
Version(1)
Version(1, 2, 3)
Version(1, 2, 3, "rc.1", "build.7"); Version(0, 0, 0)
Version(-1)
Version("1", "2", "3")
Version("one")
Version(1, 2, 3, "alpha.01")
Version(1, 2, 3, "rc!")
Version.parse("1.2.3")
Version.parse("1.2.3-alpha.1+exp.sha")
Version.parse("01.2.3")
Version.parse("1.2")
Version.parse("1.2", optional_minor_and_patch=True)
Version.parse("7", optional_minor_and_patch=True); Version.parse("7.1", True)
Version.parse(b"3.4.5"); Version.parse(b"3.4.5-rc.2")
Version.parse(345)
Version.parse("")
Version.is_valid("1.2.3"); Version.is_valid("1.2.3-"); Version.is_valid("a.b.c"); Version.is_valid("2.0.0-x.7.z.92")
v = Version(3, 4, 5); v.bump_major(); v.bump_minor(); v.bump_patch()
v = Version(3, 4, 5, "rc.1"); v.bump_prerelease(); v.bump_prerelease("beta"); v.finalize_version()
v = Version(3, 4, 5); v.bump_prerelease(); v.bump_prerelease(""); v.bump_prerelease(None)
v = Version(3, 4, 5, None, "build.9"); v.bump_build(); v.bump_build("nightly")
v = Version(3, 4, 5, "rc.9", "build.99"); v.bump_build(); v.bump_prerelease(); v.bump_patch()
v = Version.parse("3.4.5-rc.1"); w = v.bump_prerelease(); x = w.bump_prerelease(); x.compare(v)
v = Version.parse("3.4.5-pre.2+build.4"); v.major; v.minor; v.patch; v.prerelease; v.build
v = Version.parse("3.4.5"); v.to_tuple(); v.to_dict(); str(v); repr(v); hash(v)
v = Version.parse("3.4.5-pre.2+build.4"); v.to_tuple(); v.to_dict(); str(v); repr(v)
v = Version(1, 0, 0); v.compare("2.0.0"); v.compare("0.9.9"); v.compare("1.0.0")
v = Version(1, 0, 0, "alpha"); v.compare("1.0.0"); v.compare("1.0.0-alpha.1"); v.compare("1.0.0-beta")
v = Version(1, 0, 0, "alpha.1"); v.compare("1.0.0-alpha.beta"); v.compare("1.0.0-alpha.2"); v.compare("1.0.0-alpha.1")
v = Version(1, 0, 0); v.compare((1, 0, 1)); v.compare([0, 9]); v.compare({"major": 1, "minor": 2, "patch": 3})
v = Version(1, 0, 0); v.compare(1.5)
v = Version(1, 0, 0); v.compare("x.y.z")
v = Version(2, 1, 0); v == "2.1.0"; v != "2.1.0"; v < "2.2.0"; v <= "2.1.0"; v > "2.0.9"; v >= "2.1.1"
v = Version(2, 1, 0); w = Version(2, 1, 0, "rc.1"); v == w; v > w; w < v; w <= v; v != w
v = Version(2, 1, 0); v == 5
v = Version(2, 1, 0); v < None
v = Version(2, 1, 0); v[0]; v[1]; v[2]
v = Version(2, 1, 0, "rc.1", "b.2"); v[3]; v[4]; v[0:3]; v[3:5]; v[0:2]
v = Version(2, 1, 0); v[3]
v = Version(2, 1, 0); v[-1]
v = Version(2, 1, 0); v[5:9]
v = Version(2, 1, 0); v[0:-1]
v = Version(3, 3, 3); v.match(">=3.3.3"); v.match("<4.0.0"); v.match("==3.3.3"); v.match("!=3.3.3")
v = Version(3, 3, 3); v.match("3.3.3"); v.match(">3.3.2"); v.match("<=3.3.2")
v = Version(3, 3, 3); v.match("~3.3.3")
v = Version(3, 3, 3); v.match("")
v = Version(3, 3, 3); v.replace(major=4); v.replace(minor=0, patch=1); v.replace(prerelease="rc.3")
v = Version(3, 3, 3); v.replace(colour="red")
v = Version(3, 3, 3); v.replace(patch=-5)
v = Version(3, 3, 3); v.next_version("major"); v.next_version("minor"); v.next_version("patch")
v = Version(3, 3, 3, "rc.1"); v.next_version("major"); v.next_version("minor"); v.next_version("patch")
v = Version(3, 3, 0, "rc.1"); v.next_version("minor"); v.next_version("prerelease")
v = Version(3, 0, 0, "rc.1"); v.next_version("major"); v.next_version("prerelease", "dev")
v = Version(3, 3, 3); v.next_version("prerelease"); v.next_version("prerelease", "alpha")
v = Version(3, 3, 3); v.next_version("build")
v = Version(3, 3, 3); v.next_version("quarter")
v = Version(1, 1, 0); v.is_compatible(Version(1, 2, 0)); v.is_compatible(Version(2, 0, 0)); v.is_compatible(Version(1, 1, 0))
v = Version(1, 1, 0); v.is_compatible(Version(1, 0, 9)); v.is_compatible(Version(1, 1, 0, "rc.1"))
v = Version(0, 1, 0); v.is_compatible(Version(0, 1, 1)); v.is_compatible(Version(0, 1, 0))
v = Version(1, 1, 0); v.is_compatible("1.1.0")
v = Version(1, 2, 3); v.major = 4
v = Version(1, 2, 3); v.patch = 4
v = Version(1, 2, 3); list(v); tuple(v)
v = Version(1, 2, 3, "a.b.c", "d.e.f"); list(v); dict(v.to_dict()); v.finalize_version() == Version(1, 2, 3)
Version.parse("1.0.0-alpha") < Version.parse("1.0.0-alpha.1"); Version.parse("1.0.0-rc.1") < Version.parse("1.0.0")
Version.parse("1.0.0+a") == Version.parse("1.0.0+b"); Version.parse("1.0.0-1") > Version.parse("1.0.0-0")
Version.parse("10.20.30"); Version.parse("99999999999999999.0.0"); Version.parse("1.0.0-0A.is.legal")
Version.parse("1.1.2-prerelease+meta"); Version.parse("1.1.2+meta"); Version.parse("1.1.2+meta-valid")
Version.parse("1.0.0-alpha_beta")
Version.parse("1.2.3.DEV")
v = Version(1, 2, 3); w = v.bump_major(); x = w.bump_minor(); y = x.bump_patch(); y > x; x > w; w > v; y.compare(v)
v = Version(0, 0, 1); w = v.bump_build("x"); x = w.bump_build("x"); str(x); hash(x) == hash(w); x == w
max([Version(1, 2, 3), Version(1, 3, 0), Version(0, 9, 9)]); sorted([Version(2), Version(1), Version(1, 0, 0, "rc")])
""",
}
