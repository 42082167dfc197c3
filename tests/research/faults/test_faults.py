"""The checks after a disturbed run see what is wrong."""

from research.faults import runs


def test_a_good_run_is_found_good(tmp_path):
    before = runs.make_inputs(tmp_path)
    (tmp_path / "out" / "scores.csv").write_text("k,J\n2,0.5\n")
    assert runs.check(tmp_path, before, 130, "tamis: interrupted.", (0, 130)) == runs.Verdict()


def test_faults_are_seen(tmp_path):
    before = runs.make_inputs(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n")
    (tmp_path / "out" / "report.html").write_text("<html>")
    (tmp_path / "out" / "selector.tamis").write_bytes(b"half")
    (tmp_path / "out" / ".tamis-1-x.csv").write_text("")
    found = runs.check(tmp_path, before, 0, "Traceback (most recent call last)", (0,))
    assert (found.inputs_changed, found.half_written, found.wrong_exit) == (1, 2, 1)
    assert runs.leftovers(tmp_path) == [".tamis-1-x.csv"]
    assert runs.check(tmp_path, runs.digests(tmp_path), 1, "", (0, 130)).wrong_exit == 1


def test_the_users_own_file_in_the_output_folder_counts_as_an_input(tmp_path):
    before = runs.make_inputs(tmp_path)
    (tmp_path / "out" / "notes.txt").unlink()
    assert runs.check(tmp_path, before, 0, "", (0,)).inputs_changed == 1
