import pytest

from tamis.io.files import replacing, write_text


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = write_text(tmp_path / "a.txt", "old\n")
    assert write_text(path, "new\n").read_text() == "new\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path):
    path = write_text(tmp_path / "a.txt", "old\n")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_files_get_the_usual_permissions(tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_text("")
    assert write_text(tmp_path / "a.txt", "").stat().st_mode == plain.stat().st_mode
