"""Headings of a PDF, found from legal numbering, font size, weight, place and spacing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ekr.reading.heading_levels import FoundHeading, LineHeading, with_levels
from ekr.reading.legal_numbering import Label, decimal_depth, decimal_number, is_contents_line, legal_label
from ekr.reading.pdf_lines import Line

_MAX_TITLE_LINES = 6
_MAX_HEADING_CHARACTERS = 350
_LAW = 3
_CAPTION = re.compile(r"^(?:figure|fig\.|table|tableau|listing|encadré|source)\s*[\d:]", re.IGNORECASE)
_ENDS_SENTENCE = re.compile(r"[.;,]$")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Body:
    """The running text's type style: what a heading differs from."""

    size: float
    bold: bool
    leading: float
    left: float
    right: float
    page_width: float

    @property
    def width(self) -> float:
        """Width of the text column in points."""
        return max(1.0, self.right - self.left)


def body_style(lines: Sequence[Line], page_width: float) -> Body:
    """The style most characters are set in, the usual distance of its lines, and its column."""
    sizes: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2, line.bold] += len(line.text)
    (size, bold), _ = sizes.most_common(1)[0]
    body = [line for line in lines if abs(line.size - size) <= 0.5]
    gaps = Counter(
        round((above.baseline - below.baseline) * 2) / 2
        for above, below in pairwise(body)
        if above.page == below.page and 0 < above.baseline - below.baseline < 2.5 * size
    )
    leading = gaps.most_common(1)[0][0] if gaps else 1.2 * size
    lefts = sorted(line.left for line in body)
    rights = sorted(line.right for line in body)
    return Body(size, bold, leading, lefts[len(lefts) // 20], rights[-1 - len(rights) // 20], page_width)


def find_headings(lines: Sequence[Line], body: Body) -> list[LineHeading]:
    """The headings among the lines of a document (running heads stripped), in order."""
    found: list[FoundHeading] = []
    # In a law, plain "3.1. ..." lines are numbered paragraphs.
    law = sum(1 for line in lines if legal_label_alone(line)) >= _LAW
    subnumbered = (
        set() if law else {decimal_number(line.text).split(".")[0] for line in lines if decimal_depth(line.text) >= 2}
    )
    index = 0
    while index < len(lines):
        heading = _heading_at(lines, index, body, subnumbered)
        if heading is None:
            index += 1
        else:
            found.append(heading)
            index = heading.last
    return with_levels(_without_subtitles(found, lines))


def _heading_at(lines: Sequence[Line], index: int, body: Body, subnumbered: set[str]) -> FoundHeading | None:
    line = lines[index]
    text = line.text
    if is_contents_line(text) or _CAPTION.match(text):
        return None
    label = legal_label(text)
    if label is not None and _label_stands_alone(lines, index, body, label):
        last = _title_end(lines, index, body, label)
        return FoundHeading(index, last, max(part.size for part in lines[index:last]), line.bold, label, 0)
    depth = decimal_depth(text)
    if _is_display(line, body) and line.size >= 0.95 * body.size and _HAS_WORD.search(text):
        last = _block_end(lines, index, index + 1, body)
        fits = _is_display_heading(lines, index, last, body, numbered=depth > 0)
        return FoundHeading(index, last, line.size, line.bold, None, depth) if fits else None
    numbered = bool(subnumbered) and (depth >= 2 or (depth == 1 and decimal_number(text) in subnumbered))
    if numbered and _is_plain_numbered_heading(lines, index, body):
        return FoundHeading(index, index + 1, line.size, line.bold, None, depth)
    return None


def _is_display_heading(lines: Sequence[Line], first: int, last: int, body: Body, *, numbered: bool) -> bool:
    """Tells a heading from a paragraph, a caption or a run of words in display type."""
    block = " ".join(part.text for part in lines[first:last])
    if len(block) > _MAX_HEADING_CHARACTERS or last - first > _MAX_TITLE_LINES:
        return False
    larger = lines[first].size >= 1.12 * body.size
    sentence = bool(_ENDS_SENTENCE.search(block)) and not (larger and numbered)
    return not sentence and _apart(lines, first, last, body)


def _is_display(line: Line, body: Body) -> bool:
    return line.size >= 1.12 * body.size or (line.bold and not body.bold and line.size >= 0.85 * body.size)


def _gap_above(lines: Sequence[Line], index: int) -> float:
    """Distance to the line above in points; infinite at the top of a page or column."""
    if index == 0 or lines[index - 1].page != lines[index].page:
        return float("inf")
    gap = lines[index - 1].baseline - lines[index].baseline
    return gap if gap > 0.2 * lines[index].size else float("inf")


def _is_centred(line: Line, body: Body) -> bool:
    column = (body.left + body.right) / 2
    middle = min(abs(line.centre - column), abs(line.centre - body.page_width / 2))
    return middle < 0.03 * body.width and line.left > body.left + 0.06 * body.width


def _label_stands_alone(lines: Sequence[Line], index: int, body: Body, label: Label) -> bool:
    """Tells "Article 6" as a heading from a sentence whose line happens to begin with it."""
    line = lines[index]
    display = _is_display(line, body)
    alone = _gap_above(lines, index) > 1.25 * body.leading
    if not label.title:
        styled = display or line.italic or _is_centred(line, body)
        return styled or (alone and _previous_is_closed(lines, index))
    if _ENDS_SENTENCE.search(line.text) and not display:
        return False
    if display:
        return True
    short = line.right - line.left < (0.9 if _is_centred(line, body) else 0.8) * body.width
    titled = label.title[0].isupper() or label.title[0] in "«\"“'("
    if not (alone and short and titled):
        return False
    if _is_centred(line, body):
        return True
    below = index + 1 >= len(lines) or _gap_above(lines, index + 1) > 1.1 * body.leading
    return below and _previous_is_closed(lines, index)


def _previous_is_closed(lines: Sequence[Line], index: int) -> bool:
    return index == 0 or not re.search(r"[\w,(]$", lines[index - 1].text) or _is_short(lines[index - 1], lines[index])


def _is_short(line: Line, following: Line) -> bool:
    return line.page != following.page or line.right < following.left + 0.6 * (following.right - following.left)


def _title_end(lines: Sequence[Line], index: int, body: Body, label: Label) -> int:
    """The end of the heading that the label at `index` opens: the title lines below it belong to it."""
    line = lines[index]
    after = index + 1
    if after >= len(lines) or lines[after].page != line.page or legal_label_alone(lines[after]):
        return after
    following = lines[after]
    gap = line.baseline - following.baseline
    if not 0 < gap <= 2.6 * max(line.size, body.size) + 4:
        return after
    if label.title:
        same = _same_style(line, following) and _is_display(following, body)
        return _block_end(lines, index, after, body) if same and gap < 1.5 * line.size else after
    centred = _is_centred(line, body) and _is_centred(following, body)
    italic = following.italic and (line.italic or _is_centred(following, body))
    alone = _gap_above(lines, after + 1) > 1.3 * body.leading if after + 1 < len(lines) else False
    loose = centred or italic or (alone and _is_centred(line, body) and not following.text.endswith((":", ",")))
    if _is_display(following, body) or (loose and not re.search(r"[.;]$", following.text)):
        end = _block_end(lines, after, after + 1, body)
        title = " ".join(part.text for part in lines[after:end])
        if end - after <= _MAX_TITLE_LINES and len(title) <= _MAX_HEADING_CHARACTERS:
            return end
    return after


def legal_label_alone(line: Line) -> bool:
    """True for a line that is nothing but a legal label."""
    label = legal_label(line.text)
    return label is not None and not label.title


def _block_end(lines: Sequence[Line], style_of: int, after: int, body: Body) -> int:
    """The end of the run of lines from `after` on that continue the display line `style_of`."""
    model = lines[style_of]
    while after < len(lines):
        line, above = lines[after], lines[after - 1]
        gap = above.baseline - line.baseline
        if line.page != model.page or not 0 < gap < 1.55 * model.size or not _same_style(model, line):
            break
        if not _is_display(line, body) and not (_is_centred(line, body) or line.italic):
            break
        if _CAPTION.match(line.text) or decimal_depth(line.text):
            break
        # "... in accordance with / Article 49" goes on; "CHAPTER I / Article 1" does not.
        if legal_label_alone(line) and (legal_label_alone(above) or not above.text.split()[-1].islower()):
            break
        after += 1
    return after


def _same_style(one: Line, other: Line) -> bool:
    return abs(one.size - other.size) < 0.6 and one.bold == other.bold


def _apart(lines: Sequence[Line], first: int, last: int, body: Body) -> bool:
    """True where a display block has room around it, or is bigger than the text: not bold words in a line."""
    line = lines[first]
    if line.size >= 1.12 * body.size:
        return True
    above = _gap_above(lines, first) > 1.15 * body.leading
    short = max(part.right for part in lines[first:last]) < body.right - 0.1 * body.width
    return above or (short and _previous_is_closed(lines, first))


def _is_plain_numbered_heading(lines: Sequence[Line], index: int, body: Body) -> bool:
    line = lines[index]
    below = (
        index + 1 >= len(lines)
        or lines[index + 1].page != line.page
        or _gap_above(lines, index + 1) > 1.2 * body.leading
    )
    return (
        _gap_above(lines, index) > 1.2 * body.leading
        and below
        and line.right - line.left < 0.65 * body.width
        and not re.search(r"[.;:,]$", line.text)
    )


def _without_subtitles(found: Sequence[FoundHeading], lines: Sequence[Line]) -> list[FoundHeading]:
    """On the title page, lines in the title's style right below it are its subtitle: body, not sections."""
    kept: list[FoundHeading] = []
    end = -1
    for item in found:
        subtitle = (
            item.label is None
            and not item.depth
            and bool(kept)
            and kept[-1].label is None
            and item.first == end
            and lines[item.first].page == lines[found[0].first].page
            and (item.size, item.bold) == (kept[-1].size, kept[-1].bold)
        )
        end = item.last
        if not subtitle:
            kept.append(item)
    return kept
