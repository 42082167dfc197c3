from research.paper.experiments import ablation_mnist, ablation_moons, contributions


def moons_row(method, solved, d=3, seed=0):
    return {"trial": {"method": method, "nuisance": d, "seed": seed}, "solved": solved}


def test_success_is_counted():
    rows = [moons_row("lscae", True), moons_row("lscae", False, seed=1), moons_row("cae", False)]
    assert ablation_moons.success(rows, "lscae", 3) == (1, 2)
    assert ablation_moons.tables(rows)[0].rows == [["LS-CAE", "1 of 2"], ["CAE", "0 of 1"]]


def test_the_claim_that_both_terms_are_needed_is_checked():
    rows = [moons_row("lscae", True), moons_row("cae", False)]
    assert "which agrees with the paper's claim" in ablation_moons.verdict(rows)
    rows.append(moons_row("concrete-laplacian", True))
    assert "at 0 of 1 sizes, which does not fully agree with" in ablation_moons.verdict(rows)
    assert "have not all been run yet" in ablation_moons.verdict(rows[1:])


def mnist_row(method, k, accuracy, seed=0):
    return {"trial": {"kind": "fit", "method": method, "k": k, "seed": seed}, "accuracy": accuracy}


def test_the_curve_is_compared_size_by_size():
    rows = [
        mnist_row("lscae", 5, 0.4),
        mnist_row("lscae", 10, 0.5),
        mnist_row("random", 5, 0.3),
        mnist_row("random", 10, 0.6),
    ]
    assert "highest mean accuracy at k = 5, of 2 sizes, which does not fully agree" in ablation_mnist.verdict(rows)
    assert ablation_mnist.tables(rows)[0].rows[0] == ["LS-CAE (1)", "40.0", "50.0"]
    rows.append(mnist_row("lscae", 10, 0.9, seed=1))
    assert "at k = 5, 10, of 2 sizes, which agrees" in ablation_mnist.verdict(rows)
    assert ablation_mnist.tables(rows)[0].rows[0][2] == "70.0 ± 28.3"


def test_clean_images_have_a_table_of_their_own():
    clean = mnist_row("lscae", 5, 0.6)
    clean["trial"]["kind"] = "clean"
    tables = {table.name: table.rows for table in ablation_mnist.tables([mnist_row("lscae", 5, 0.4), clean])}
    noisy = [["LS-CAE (1)", "40.0"]]
    assert tables == {
        "ablation-mnist": noisy,
        "ablation-mnist-first": noisy,
        "ablation-mnist-clean": [["LS-CAE (1)", "60.0"]],
    }


def test_the_papers_three_repetitions_are_told_apart():
    later = [mnist_row("lscae", 5, 0.9, seed=3), mnist_row("random", 5, 0.1, seed=3)]
    rows = [mnist_row("lscae", 5, 0.3), mnist_row("random", 5, 0.4), *later]
    assert "highest mean accuracy at k = 5" in ablation_mnist.verdict(rows)
    assert "first 3 repetitions alone, at no size" in ablation_mnist.verdict(rows)
    assert [table.rows[0] for table in ablation_mnist.tables(rows)] == [
        ["LS-CAE (2)", "60.0 ± 42.4"],
        ["LS-CAE (1)", "30.0"],
    ]


def test_slow_methods_that_are_far_below_repeat_less():
    seeds = {(t.get("method"), t["kind"], t["seed"]) for t in ablation_mnist.trials(quick=False)}
    assert {("lscae", "fit", 9), ("concrete-laplacian", "fit", 2)} <= seeds
    assert seeds.isdisjoint({("concrete-laplacian", "fit", 3), ("lscae", "clean", 3)})


def test_examples_are_kept_as_bytes_and_selection_as_pixels():
    row = ablation_mnist.work({"kind": "examples", "seed": 0, "quick": True}, None)
    assert [len(image) for image in row["images"]] == [128] * 3
    trial = {"kind": "fit", "method": "random", "k": 15, "seed": 0, "quick": True}
    assert len(ablation_mnist.work(trial, None)["selected"]) == 15


def test_with_all_gates_open_the_moons_have_a_lead():
    whole = contributions.work({"moment": "all", "n": 150, "seed": 0}, None)
    assert len(whole["contributions"]) == contributions.NUISANCE + 2
    assert min(whole["contributions"][:2]) > max(whole["contributions"][2:])


def test_the_gates_of_training_lie_between_those_of_all_and_of_the_selected():
    trial = {"moment": "selected", "method": "lscae", "n": 150, "seed": 0, "quick": True}
    selected = contributions.work(trial, None)
    early = contributions.work(trial | {"moment": "training"}, None)
    assert sum(gate > 0 for gate in selected["gates"]) == 2
    assert max(early["gates"]) == 1
    assert sum(gate > 0 for gate in early["gates"]) >= 2
    assert len(early["settings"]) > 5
    zero = [value for gate, value in zip(selected["gates"], selected["contributions"], strict=True) if gate == 0]
    assert set(zero) == {0.0}
