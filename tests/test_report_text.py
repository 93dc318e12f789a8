import re

from memops.reports.text import summary_markdown, summary_table
from tests.hostile import PAYLOADS
from tests.nights import filled, night

ALIGNED = """\
All is well.

Overview          Total
proposed             10
applied               8
skipped               1
withdrawn             1
records       304 → 305
live records  301 → 295

Rule                 What it did   Total
merge_exact          merge 2           2
supersede_conflicts  supersede 2       2
demote_faded         demote 1          1
extract_notes        insert 1          1
mend_truncated       update 1          1
merge_near           merge 1           1
quarantine_injected  quarantine 1      1
redact_secrets       redact 1          1

Measure    Before  After  Difference
R@5        0.810   0.900      +0.090
nDCG@10    0.700   0.780      +0.080
Success@1  0.620   0.700      +0.080

To take all of it back: memops rollback 20260601T021500-7f3a
"""


def test_a_summary_for_a_terminal_is_aligned():
    assert summary_table(night(limits=[], verdict_sentence="All is well.")) == ALIGNED


def test_a_summary_in_chinese_counts_wide_characters_as_two():
    lines = summary_table(night(), "zh").split("\n")
    start = lines.index(next(line for line in lines if line.startswith("规则")))
    rows = lines[start : start + 9]
    wide = {sum(1 + ("\u2e80" < c < "\uffef") for c in row) for row in rows}
    assert len(wide) == 1 and "合并 2" in rows[1]


def test_a_summary_in_markdown_holds_the_figures():
    text = summary_markdown(night())
    assert text.startswith("### clawseed&#58;harbour, 1 June 2026\n\n**8 of 10 proposed changes")
    assert "| merge\\_exact | merge 2 | 2 |\n" in text
    assert "| R&#64;5 | 0.810 | 0.900 | \\+0.090 |\n" in text
    assert "Queries lost: 1 (备用探头在哪)\n" in text
    assert text.endswith("`memops rollback 20260601T021500-7f3a`\n")


def test_hostile_text_stays_text_in_markdown():
    skeleton = re.sub(r"x\d?", "", summary_markdown(filled("x")))
    for payload in PAYLOADS:
        text = summary_markdown(filled(payload))
        bare = re.sub(r"`[^`\n]*`", "", text)  # inside a code span nothing is read
        assert not re.search(r"<|[^&]@|\bhttps?:|(?<!\\)[\[\]_*`](?<!\*\*)(?!\*)", bare), payload
        assert text.count("\n") == skeleton.count("\n"), payload
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u200b]", text), payload


def test_hostile_text_cannot_move_the_cursor_of_a_terminal():
    lines = summary_table(filled("x")).count("\n")
    for payload in PAYLOADS:
        text = summary_table(filled(payload))
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), (
            payload
        )
        assert text.count("\n") == lines, payload


def test_an_ungraded_plan_has_a_summary_too():
    data = night(run=None, grades=None)
    for text in (summary_table(data), summary_markdown(data)):
        assert "10 changes are proposed for a store of 304 records" in text
        assert "rollback" not in text and "0.810" not in text
