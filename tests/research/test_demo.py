from research import demo
from tamis.synthetic import moons_with_copies


def test_the_demo_finds_the_moons_and_writes_its_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    page = demo.main(tmp_path / "new")
    printed = capsys.readouterr().out
    chosen = printed.split("Chosen features: ")[1].splitlines()[0].split(", ")
    table = moons_with_copies(6, seed=0)
    assert table.is_solved_by([table.names.index(name) for name in chosen])
    assert "This selection can be trusted" in printed
    assert f"Page: {page}" in printed
    assert "Two moons" in page.read_text()
