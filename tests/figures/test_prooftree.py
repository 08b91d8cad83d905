"""What a statement rests on, drawn on its page: all that its proof cites, down to the steps by hand."""

from __future__ import annotations

from dataclasses import replace

from fedaudit.figures.kinds.proof_tree import Cited, nodes_of, proof_tree
from fedaudit.figures.pages.report import Site
from fedaudit.verify.certify.standing import Checked, Standing
from fedaudit.verify.results.audit_json import Derived, Row

NODES = {
    name: Cited(f"a/{name}", verdict, f"<b>{name}</b>", hand, tuple(f"a/{c}" for c in cites))
    for name, verdict, hand, cites in (
        ("thm", "survived", (), ("lem1", "lem2", "gone")),
        ("lem1", "refuted", (), ("lem2",)),
        ("lem2", "survived", ("(A.3)", "<i>rule</i>"), ("thm",)),
        ("other", "proved", (), ()),
    )
}
BY_ID = {node.id: node for node in NODES.values()}


def test_a_tree_holds_all_that_is_cited_and_nothing_else() -> None:
    tree = proof_tree("a/thm", BY_ID)
    assert tree is not None
    assert set(tree.statements) == {"a/thm", "a/lem1", "a/lem2"}
    assert list(tree.by_hand.values()) == [("(A.3)", "<i>rule</i>")]
    assert {edge.cited for edge in tree.map.edges if edge.fallen} == {"a/lem1"}
    assert {place.label for place in tree.map.places} >= {"2 by hand", "lem1"}


def test_a_statement_that_cites_nothing_has_no_tree() -> None:
    assert proof_tree("a/other", BY_ID) is None
    assert proof_tree("a/unknown", BY_ID) is None


def test_a_proved_statement_rests_on_what_proves_it() -> None:
    derived = Derived("follows", cites=("a/b", "a/c"), proved_from=("a/c",), premises=("by hand",))
    row = Row("a/t", "proved", derive=derived)
    assert nodes_of([(row, "proved")])["a/t"] == Cited("a/t", "proved", "", (), ("a/c",))
    survived = nodes_of([(replace(row, derive=replace(derived, proved_from=())), "survived")])["a/t"]
    assert survived == Cited("a/t", "survived", "", ("by hand",), ("a/b", "a/c"))


def test_the_page_shows_the_tree_and_escapes_its_text(tmp_path) -> None:
    site = Site(tmp_path, list(BY_ID))
    row = Row("a/thm", "survived", derive=Derived("follows", cites=("a/lem1",)))
    checked = Checked(row, Standing("own"), {}, {}, ())
    assert "What it rests on" not in site.statement(checked)
    before = site.around(row, ())
    site.nodes = BY_ID
    page = site.statement(checked)
    assert site.around(row, ()) != before
    assert "What it rests on" in page
    assert 'class="node refuted"' in page
    assert 'class="node hand"' in page
    assert 'href="../pages/a-lem1.html"' in page
    assert "<b>lem1" not in page
    assert "<i>rule" not in page
