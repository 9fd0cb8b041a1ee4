"""A page's drawing commands, followed as far as letters and straight lines need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headwright.homework.limits import LimitReached
from headwright.homework.reading.pdf.boxes import AXIS, Box, Rule
from headwright.homework.reading.pdf.page.fonts import Font, Letter, font
from headwright.homework.reading.pdf.page.library import ContentStream
from headwright.homework.reading.pdf.page.state import UNMOVED, Marks, Matrix, Spent, State, times

MOST_PAGE_LETTERS = 15_000
MOST_PAGE_BYTES = 1_000_000  # of one page's commands
_DEEPEST_FORM = 4  # pages within pages
_DEEPEST_STATE = 200
_THIN = 1.6  # points: a filled rectangle so low is a rule
_SHORTEST = 2.0  # points
_COLOURED = 0.25  # the strongest of red, green and blue is ahead of the weakest by so much
_INVISIBLE = 3  # how text is painted: not at all (the text behind a scan)


class PageReader:
    """Follows the commands of one page and of the forms in it."""

    def __init__(self, document: Any, fonts: dict[int, Font], spent: Spent) -> None:
        self.marks = Marks()
        self._document = document
        self._fonts = fonts  # by their number in the file: pages share them
        self._spent = spent
        self._state = State()
        self._saved: list[State] = []
        self._text = UNMOVED
        self._line = UNMOVED
        self._path: list[tuple[float, float]] = []
        self._drawn: list[Rule] = []
        self._resources: Any = {}
        self._depth = 0

    def read(self, contents: Any, resources: Any) -> None:
        """The commands of a page or a form."""
        stream = ContentStream(contents, self._document)
        if len(stream.get_data()) > MOST_PAGE_BYTES:
            raise LimitReached(f"a PDF page with over {MOST_PAGE_BYTES // 10**6} MB of commands")
        before = self._resources
        self._resources = resources
        for operands, operator in stream.operations:
            self._spent.add(1, 0)
            command = _COMMANDS.get(operator)
            if command is not None:
                command(self, operands)
        self._resources = before

    # -- state

    def save(self, _: Any) -> None:
        if len(self._saved) < _DEEPEST_STATE:
            self._saved.append(self._state)

    def restore(self, _: Any) -> None:
        if self._saved:
            self._state = self._saved.pop()

    def move(self, operands: Any) -> None:
        self._state = replace(self._state, place=times(_matrix(operands), self._state.place))

    def choose_font(self, operands: Any) -> None:
        size = float(operands[1])
        self._state = replace(self._state, font=self._font(operands[0]), size=size)

    def _font(self, name: Any) -> Font | None:
        fonts = self._resources.get("/Font", {}).get_object()
        given = fonts.get(name) if name in fonts else None
        if given is None:
            return None
        record = given.get_object()
        key = id(record)
        if key not in self._fonts:
            self._fonts[key] = font(record)
        return self._fonts[key]

    def space(self, name: str, operands: Any) -> None:
        value = float(operands[0])
        self._state = replace(self._state, **{name: value})

    def colour(self, operands: Any) -> None:
        """Grey is no colour; of other colour spaces only the usual three are known by their number
        of values."""
        values = [float(value) for value in operands if isinstance(value, (int, float))]
        light = [1 - value for value in values[:3]] if len(values) == 4 else values
        spread = max(light) - min(light) if len(light) == 3 else 0.0
        self._state = replace(self._state, coloured=spread > _COLOURED)

    # -- text

    def begin_text(self, _: Any) -> None:
        self._text = UNMOVED
        self._line = UNMOVED

    def next_line(self, operands: Any) -> None:
        shift: Matrix = (1.0, 0.0, 0.0, 1.0, float(operands[0]), float(operands[1]))
        self._line = times(shift, self._line)
        self._text = self._line

    def next_line_leading(self, operands: Any) -> None:
        self._state = replace(self._state, leading=-float(operands[1]))
        self.next_line(operands)

    def down(self, _: Any) -> None:
        self.next_line((0.0, -self._state.leading))

    def place_text(self, operands: Any) -> None:
        self._line = _matrix(operands)
        self._text = self._line

    def show(self, operands: Any) -> None:
        self._write(operands[0])

    def show_spaced(self, operands: Any) -> None:
        for piece in operands[0]:
            if isinstance(piece, (int, float)):
                self._advance(-float(piece) / 1000 * self._state.size * self._state.stretch)
            else:
                self._write(piece)

    def show_on_next_line(self, operands: Any) -> None:
        self.down(())
        self._write(operands[-1])

    def _advance(self, width: float) -> None:
        shift: Matrix = (1.0, 0.0, 0.0, 1.0, width, 0.0)
        self._text = times(shift, self._text)

    def _write(self, string: Any) -> None:
        state = self._state
        if state.font is None:
            return
        raw = getattr(string, "original_bytes", string)
        if not isinstance(raw, bytes):
            return
        for code, letter in state.font.read(raw):
            width = letter.width * state.size + state.letter_space
            if code == 32 and not state.font.codes.wide:
                width += state.word_space
            self._spent.add(0, 1)
            self._mark(letter, state)
            self._advance(width * state.stretch)

    def _mark(self, letter: Letter, state: State) -> None:
        if state.painting == _INVISIBLE:
            self.marks.hidden += 1
            return
        if not letter.latex.strip():
            return
        if len(self.marks.boxes) >= MOST_PAGE_LETTERS:
            raise LimitReached(f"more than {MOST_PAGE_LETTERS:,} letters on one page of a PDF")
        a, b, _, d, x, y = times(self._text, state.place)
        size = state.size * abs(d)
        if abs(b) > 0.01 * abs(a) or a <= 0 or d <= 0 or not 1.0 < size < 200.0:
            return  # turned or mirrored: a watermark, a label at a figure's side
        width = letter.width * state.size * a
        assert state.font is not None
        box = _box(letter, state.font, (x, y + state.rise * d), (width, size))
        self.marks.boxes.append(replace(box, coloured=state.coloured))

    # -- lines

    def start_path(self, operands: Any) -> None:
        self._path = [self._at(operands)]

    def continue_path(self, operands: Any) -> None:
        there = self._at(operands)
        if self._path:
            self._note(self._path[-1], there)
        self._path = [there]

    def rectangle(self, operands: Any) -> None:
        x, y, width, height = (float(number) for number in operands)
        x0, y0 = self._at((x, y))
        x1, y1 = self._at((x + width, y + height))
        if abs(y1 - y0) <= _THIN:
            level = (y0 + y1) / 2
            self._note((x0, level), (x1, level))

    def _note(self, a: tuple[float, float], b: tuple[float, float]) -> None:
        (x0, y0), (x1, y1) = sorted((a, b))
        if x1 - x0 >= _SHORTEST:
            self._drawn.append(Rule(x0, y0, x1, y1))

    def paint(self, _: Any) -> None:
        self.marks.rules.extend(self._drawn)
        self._drawn = []
        self._path = []

    def forget_path(self, _: Any) -> None:
        self._drawn = []
        self._path = []

    def _at(self, operands: Any) -> tuple[float, float]:
        a, b, c, d, e, f = self._state.place
        x = float(operands[0])
        y = float(operands[1])
        return a * x + c * y + e, b * x + d * y + f

    # -- forms and pictures

    def draw_object(self, operands: Any) -> None:
        objects = self._resources.get("/XObject", {}).get_object()
        given = objects.get(operands[0]) if operands[0] in objects else None
        drawn = given.get_object() if given is not None else {}
        if drawn.get("/Subtype") == "/Image":
            self.marks.pictures += 1
        if drawn.get("/Subtype") != "/Form" or self._depth >= _DEEPEST_FORM:
            return
        self._depth += 1
        outside = self._state
        self.move(drawn.get("/Matrix", UNMOVED))
        own = drawn.get("/Resources")
        self.read(drawn, own.get_object() if own is not None else self._resources)
        self._state = outside
        self._depth -= 1


def _matrix(operands: Any) -> Matrix:
    a, b, c, d, e, f = (float(number) for number in operands)
    return a, b, c, d, e, f


def _box(letter: Letter, face: Font, at: tuple[float, float], extent: tuple[float, float]) -> Box:
    x, y = at
    width, size = extent
    if not letter.depth:
        top = y + 0.7 * size
        return Box(letter.latex, x, x + width, y, size, face.face, top, y - 0.2 * size)
    # A large sign hangs from its origin; its middle is on the axis of its line.
    bottom = y - letter.depth * size
    line = (y + bottom) / 2 - AXIS * size
    part = letter.is_part
    return Box(letter.latex, x, x + width, line, size, face.face, y, bottom, True, part=part)


def _spacing(name: str) -> Callable[[PageReader, Any], None]:
    return lambda reader, operands: reader.space(name, operands)


def _stretch(reader: PageReader, operands: Any) -> None:
    reader.space("stretch", [float(operands[0]) / 100])


_COMMANDS: dict[bytes, Callable[[PageReader, Any], None]] = {
    b"q": PageReader.save,
    b"Q": PageReader.restore,
    b"cm": PageReader.move,
    b"BT": PageReader.begin_text,
    b"Tf": PageReader.choose_font,
    b"Td": PageReader.next_line,
    b"TD": PageReader.next_line_leading,
    b"T*": PageReader.down,
    b"Tm": PageReader.place_text,
    b"Tj": PageReader.show,
    b"TJ": PageReader.show_spaced,
    b"'": PageReader.show_on_next_line,
    b'"': PageReader.show_on_next_line,
    b"Tc": _spacing("letter_space"),
    b"Tw": _spacing("word_space"),
    b"Tz": _stretch,
    b"TL": _spacing("leading"),
    b"Ts": _spacing("rise"),
    b"Tr": _spacing("painting"),
    b"m": PageReader.start_path,
    b"l": PageReader.continue_path,
    b"re": PageReader.rectangle,
    b"n": PageReader.forget_path,
    b"Do": PageReader.draw_object,
    b"g": PageReader.colour,
    b"rg": PageReader.colour,
    b"k": PageReader.colour,
    b"sc": PageReader.colour,
    b"scn": PageReader.colour,
} | dict.fromkeys((b"S", b"s", b"f", b"F", b"f*", b"B", b"b"), PageReader.paint)
