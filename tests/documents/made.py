"""Random Markdown documents: lines and blocks as notes mix them, well formed or not."""

from hypothesis import strategies as st

LINES = [
    "# Title", "## Plan", "### Smaller", "Setext", "===", "---", "***", "", "", "",
    "Steps:", "**Label:**", "**Bold line**", "- **Field:** value", "**Field:** value", "Name: value",
    "- a point", "- another", "  - nested", "    - deeper", "\t- by a tab", "* star", "+ plus",
    "- [ ] open", "- [x] done", "- Points:", "- 09:10 it began", "09:10 it began", "2026-03-04: it began",
    "1. one", "2. two", "3. three", "2) two", "1、一", "2、二", "(1) one", "• dot", "✅ emblem",
    "| a | b |", "|---|---|", "| 1 | 2 |", "a | b", "--|--",
    "```", "```sh", "~~~", "    indented code", "> said", "> - quoted point", ">> deeper",
    "<!-- a comment -->", "<!-- begins", "ends -->", "<details>", "</details>", "<b>bold", "</b>", "<br>",
    "-----BEGIN RSA PRIVATE KEY-----", "QUJDREVGR0hJSktMTU5PUA==", "-----END RSA PRIVATE KEY-----",
    "<<<<<<< HEAD", "=======", ">>>>>>> other",
    "Plain words", "Plain words end here.", "and go on", "用户喜欢喝茶。", "步骤：", "Пользователь живёт здесь.",
    "key: value", "user: hello", "assistant: hi", "a \u2028 b", "\u3000wide", "x" * 70 + ":",
]  # fmt: skip
BLOCKS = [
    "# Title\n\n## Part\n- a\n- b\n\n## Other\ntext\n",
    "Steps:\n1. one\n2. two\n   - nested\n3. three\n",
    "**Label:**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
    "Run this:\n```sh\n# no heading\nls\n```\n",
    "---\ntitle: x\ntags: [a]\n---\n",
    "<details>\n<summary>More</summary>\n\n- inside\n\n</details>\n",
    "1. one\n\n```\ncode\n```\n\n2. two\n",
    "- Points:\n- first\n- second\n- **Field:** value\n",
    "## 10:30 AM - Talk\nWords.\n\n**Bold line**\n\nMore words.\n\n- last\n",
    "> quoted\nlazily\n\n",
]
ENDS = ["\n", "\n", "\n", "\r\n", "\r"]


def documents(lines=LINES, most=16):
    """Bytes of a document: known lines, whole blocks and odd text, with or without a last end."""
    line = st.tuples(st.sampled_from(lines), st.sampled_from(ENDS)).map("".join)
    odd = st.text(max_size=12).map(lambda text: text + "\n")
    parts = st.lists(line | line | st.sampled_from(BLOCKS) | odd, max_size=most)
    whole = parts.map("".join).map(lambda text: text.encode("utf-8", "surrogatepass"))
    raw = st.tuples(whole, st.binary(max_size=6), whole).map(b"".join)
    bom = whole.map(lambda data: b"\xef\xbb\xbf" + data)
    return whole | whole | raw | bom | whole.map(lambda data: data.rstrip(b"\r\n"))
