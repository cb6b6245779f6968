"""Finding the subject: its location, its import, and errors for unusable subjects."""

import ast
import os
import sys
from pathlib import Path

import pytest

from fitgym.errors import SubjectError
from fitgym.subject.source import locate, parse, read


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a package, a sub-package, a namespace package and two plain modules; not the current one."""
    files = {
        "plain.py": "class Outer:\n    class Inner:\n        pass\n\n\ndef function():\n    pass\n",
        "broken.py": "x = 1\ndef f(:\n",
        "pack/__init__.py": "from pack.part import Part\nfrom . import part\n",
        "pack/part.py": "class Part:\n    pass\n\n\nPoint = object\n",
        "pack/again.py": "from .part import Part as Renamed\nfrom .deep.end import Thing\n",
        "pack/deep/__init__.py": "",
        "pack/deep/end.py": "class Thing:\n    pass\n",
        "space/inside.py": "value = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("text", "module", "file"),
    [
        ("plain", "plain", "plain.py"),
        ("pack", "pack", "pack/__init__.py"),
        ("pack.part", "pack.part", "pack/part.py"),
        ("pack.deep.end", "pack.deep.end", "pack/deep/end.py"),
        ("space.inside", "space.inside", "space/inside.py"),
    ],
)
def test_a_module_is_found_below_the_given_folder(folder, text, module, file):
    reference = locate(text, folder)
    assert (reference.module, reference.path) == (module, str(folder / file))
    assert reference.search_path == (str(folder), os.getcwd())
    assert reference.text == text and reference.class_name == ""


@pytest.mark.parametrize(
    ("file", "module", "root"),
    [
        ("plain.py", "plain", "."),
        ("pack/part.py", "pack.part", "."),
        ("pack/__init__.py", "pack", "."),
        ("pack/deep/end.py", "pack.deep.end", "."),
        ("space/inside.py", "inside", "space"),  # no `__init__.py`: the file stands alone
    ],
)
def test_a_file_is_named_by_its_packages(folder, file, module, root):
    reference = locate(str(folder / file))
    assert reference.module == module
    assert reference.search_path[0] == str((folder / root).resolve())


def test_nothing_is_imported(folder):
    before = set(sys.modules)
    locate("pack.deep.end:Thing", folder)
    assert not {name for name in set(sys.modules) - before if name.startswith(("pack", "space", "plain"))}


def test_the_current_folder_counts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert locate("plain").search_path == (str(folder),)
    assert locate("plain.py").path == str(folder / "plain.py")


def test_a_folder_on_the_import_path_is_handed_on(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    assert str(folder) in locate("pack.part").search_path


def test_the_standard_library_needs_no_folder_of_its_own(folder):
    reference = locate("json.decoder:JSONDecoder")
    assert reference.search_path == (os.getcwd(),)
    assert reference.class_name == "JSONDecoder"


@pytest.mark.parametrize("text", ["plain:Outer", "plain:Outer.Inner", "pack.part:Point"])
def test_a_class_is_found_where_it_is_bound(folder, text):
    assert locate(text, folder).class_name == text.partition(":")[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plian", "no module named 'plian'; did you mean 'plain'?"),
        ("pack.prat", "no module named 'pack.prat' in the package 'pack'; did you mean 'pack.part'?"),
        ("plain.Outer", "'plain' is a module, not a package, so it has no 'Outer'; for a class write 'plain:Outer'"),
        ("plain:Oter", "'plain' defines no class 'Oter'; did you mean 'Outer'?"),
        ("plain:Outer.Inne", "'plain' defines no class 'Outer.Inne'; did you mean 'Outer.Inner'?"),
        ("plain:function", "'function' in 'plain' is a function: name a module or a class"),
        ("pack:Part", "'pack' only imports 'Part': test it as 'pack.part:Part'"),
        ("pack.again:Renamed", "'pack.again' only imports 'Renamed': test it as 'pack.part:Part'"),
        ("pack.again:Thing", "'pack.again' only imports 'Thing': test it as 'pack.deep.end:Thing'"),
        ("space", "'space' is a namespace package without source of its own: name one of its modules (inside)"),
        ("sys", "'sys' is a compiled module: fitgym needs Python source"),
        ("a-b", "'a-b' is neither a module name nor a file; expected 'package.module[:Class]'"),
        (":A", "':A' names no module; expected 'package.module', 'package.module:Class' or a file"),
        ("plain:3", "'3' in 'plain:3' is not the name of a class; expected 'package.module:Class'"),
        ("./nowhere.py", "no such file: './nowhere.py'"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_one_sentence(folder, text, message):
    with pytest.raises(SubjectError) as caught:
        locate(text, folder)
    assert str(caught.value) == message


def test_a_module_that_is_nowhere_may_be_in_a_folder_that_was_not_named(folder):
    with pytest.raises(SubjectError, match=r"^no module named 'no_such' \(if its folder is not on .* as path\)$"):
        locate("no_such")
    with pytest.raises(SubjectError, match=r"^no module named 'no_such'$"):
        locate("no_such", folder)


def test_a_syntax_error_is_told_with_file_and_line(folder):
    with pytest.raises(SubjectError, match=r"broken\.py', line 2, is not valid Python 3\.\d+: "):
        locate("broken", folder)


def test_a_misspelt_file_is_told_the_near_one(folder):
    with pytest.raises(SubjectError, match=r"no such file: '.*prat\.py'; did you mean 'part\.py'\?"):
        locate(str(folder / "pack" / "prat.py"))


def test_a_file_that_is_no_source_is_not_looked_for_as_a_module(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n")
    with pytest.raises(SubjectError, match=r"^'notes\.md' is no Python source file: fitgym needs Python source$"):
        locate("notes.md", folder)
    with pytest.raises(SubjectError, match=r"^no module named 'other'"):
        locate("other.md", folder)


def test_a_folder_is_told_its_modules(folder):
    with pytest.raises(SubjectError, match=r"is a folder: name one of its modules, for example '.*again\.py'"):
        locate(str(folder / "pack"))


def test_a_missing_search_folder_is_named(folder):
    with pytest.raises(SubjectError, match="no such folder: '/no/such/place'"):
        locate("plain", "/no/such/place")


def test_a_file_that_no_test_could_import_is_refused(folder):
    (folder / "my-script.py").write_text("x = 1\n")
    with pytest.raises(
        SubjectError, match="would be imported as 'my-script', which is not a valid module name: rename"
    ):
        locate(str(folder / "my-script.py"))


def test_a_compiled_extension_is_refused(folder):
    extension = Path(__import__("_json").__file__ if hasattr(__import__("_json"), "__file__") else "")
    if not extension.name:
        pytest.skip("this Python has no extension modules outside its executable")
    with pytest.raises(SubjectError, match="'_json' is a compiled module: fitgym needs Python source"):
        locate("_json")
    with pytest.raises(SubjectError, match="is a compiled module: fitgym needs Python source"):
        locate(str(extension))


def test_the_encoding_cookie_is_honoured(folder):
    path = folder / "latin.py"
    path.write_bytes("# coding: latin-1\nname = 'é'\r\n".encode("latin-1"))
    assert read(locate(str(path))) == "# coding: latin-1\nname = 'é'\n"


def test_text_in_another_encoding_than_declared_is_refused(folder):
    path = folder / "mixed.py"
    path.write_bytes(b"name = '\xe9'\n")
    with pytest.raises(SubjectError, match=r"cannot read '.*mixed\.py'"):
        locate(str(path))


def test_a_file_that_has_gone_is_named(folder):
    reference = locate("plain", folder)
    (folder / "plain.py").unlink()
    with pytest.raises(SubjectError, match="no such file"):
        read(reference)


def test_source_with_a_null_byte_is_refused(folder):
    with pytest.raises(SubjectError, match=r"plain\.py"):
        parse(locate("plain", folder), "x = 1\0")


def test_a_class_inside_a_condition_is_found(folder):
    (folder / "depends.py").write_text(
        "try:\n    import nothing\nexcept ImportError:\n    class Found:\n        pass\n"
    )
    assert locate("depends:Found", folder).class_name == "Found"


def test_what_is_read_can_be_parsed_by_the_same_python(folder):
    reference = locate("pack.part", folder)
    assert ast.dump(parse(reference, read(reference))) == ast.dump(ast.parse(read(reference)))


@pytest.mark.parametrize("codec", ["rot13", "hex", "base64", "no-such-codec"])
def test_a_codec_that_is_no_encoding_of_text_is_refused_in_one_sentence(folder, codec):
    path = folder / "encoded.py"
    path.write_text(f"# coding: {codec}\nx = 1\n")
    with pytest.raises(SubjectError, match=r"^cannot read '.*encoded\.py': .+$"):
        locate(str(path))


def test_null_bytes_are_told_without_a_line_that_there_is_not(folder):
    path = folder / "nulls.py"
    path.write_bytes(b"x = 1\n\0\0\ny = 2\n")
    with pytest.raises(SubjectError) as caught:
        locate(str(path))
    assert "nulls.py" in str(caught.value) and "None" not in str(caught.value)


def test_a_pipe_is_no_module_and_nobody_waits_for_it(folder):
    os.mkfifo(folder / "fifo.py")
    with pytest.raises(SubjectError, match=r"'.*fifo\.py' is a pipe, a socket or a device: name a file"):
        locate(str(folder / "fifo.py"))
