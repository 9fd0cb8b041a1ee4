"""One call of `headwright check`: what is given is read, judged, marked and written. Whoever
imports this has started a process that judges (`command`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headwright.cli.check import course_view, view
from headwright.cli.check import documents as given
from headwright.cli.conventions import Outputs, Reply
from headwright.cli.crew_bar import Tally, counted
from headwright.cli.crew_options import (
    cluster_of,
    refuse_two_places,
    saying_how_to_go_on,
    store_of,
)
from headwright.errors import InputError
from headwright.files import write_json, write_text


class _Verdicts(Reply):
    """A reply whose exit code tells documents in which nothing could be judged (2) from an answer
    that fails (1)."""

    def __init__(self, marked: Any, data: Any, render: Any, outputs: Outputs) -> None:
        holds = all(report.holds for report in marked.reports)
        Reply.__init__(self, data, render, holds=holds, faults=outputs.faults)
        self.unjudged = any(_nothing_judged(report) for report in marked.reports)

    @property
    def exit_code(self) -> int:
        return 2 if self.faults or (self.holds and self.unjudged) else 0 if self.holds else 1


def _nothing_judged(report: Any) -> bool:
    return all(verdict.status == "unread" for verdict in report.verdicts)


class Run:
    """One call. What can be refused is refused before anything is judged."""

    def __init__(self, bank: Any, settings: dict[str, Any]) -> None:
        from headwright.course.changes import read_run
        from headwright.course.handouts.handed_in import class_of_manifest
        from headwright.course.manifest import read_manifest
        from headwright.course.roster import read_roster
        from headwright.course.rubric import plain_rubric, read_rubric
        from headwright.course.sheet import read_sheet

        self._settings = settings
        self._paths: tuple[str, ...] = ()
        self._whole_class = True
        self._manifest = _read(settings["manifest_file"], read_manifest)
        self._bank = bank if self._manifest is None else self._manifest.questions(bank)
        self._outputs = Outputs()
        roster = _read(settings["roster_file"], read_roster)
        if self._manifest is not None:
            roster = class_of_manifest(self._manifest, roster)
        self._roster = roster
        self._old = _read(settings["against_file"], read_run)
        self._gradebook = _read(settings["gradebook_file"], read_sheet)
        rubric_file = settings["rubric_file"]
        asked = self._bank
        self._rubric = read_rubric(rubric_file, asked) if rubric_file else plain_rubric(asked)
        self._refuse_what_does_not_go_together()

    def _refuse_what_does_not_go_together(self) -> None:
        from headwright.course.gradebook import columns
        from headwright.course.rubric.grading import strangers

        settings = self._settings
        refuse_two_places(settings["workers"], settings["cluster"])
        for override in strangers(self._rubric, self._roster) if self._roster is not None else ():
            raise InputError(
                wanted="overrides for students of the class",
                got=f"one for {override.student} in line {override.line} of the rubric",
                attempt="correct the id, or add the student to the roster",
            )
        if (self._gradebook is None) != (settings["out_file"] is None):
            raise InputError(
                wanted="--gradebook EXPORTED.csv and --out F.csv together",
                got="one of them",
                attempt="--gradebook exported.csv --out filled.csv",
            )
        if self._gradebook is not None:
            columns(self._gradebook, settings["column"])
        if self._gradebook is not None and settings["anonymous"]:
            raise InputError(
                wanted="marks in a gradebook, or a run without names",
                got="--gradebook and --anonymous",
                attempt="run it twice",
            )

    def reply(self, paths: tuple[str, ...]) -> Reply:
        from headwright.cli.check.marking import marked
        from headwright.course.gradebook import students_of_rows

        self._paths = paths
        known = self._class(paths)
        if self._gradebook is not None:
            in_class = [*known.students.values(), *(self._roster or ())]
            students_of_rows(self._gradebook, in_class, self._settings["column"])
        result = marked(known, self._reports(known), self._rubric, self._bank)
        if not self._settings["dry_run"]:
            self._write(result)
        if self._old is not None:
            return self._changes(result)
        order = [question.id for question in self._bank]
        if self._settings["dry_run"]:
            return _Verdicts(
                result, result.data, lambda c: course_view.marks(c, result.graded), self._outputs
            )

        def render(console: Any) -> None:
            view.verdicts(console, result.reports, order)
            course_view.around(console, result.data)
            if not self._whole_class:
                course_view.part_of_a_class(console)

        return _Verdicts(result, result.data, render, self._outputs)

    def _class(self, paths: tuple[str, ...]) -> Any:
        """Whose documents they are; under pseudonyms where that was asked for."""
        from headwright.cli.check.marking import class_of, hidden, on_sheets
        from headwright.course.anonymous import read_key
        from headwright.course.handouts.handed_in import claimed
        from headwright.course.owners import owners

        documents = given.documents(paths)
        found = owners([one.name for one in documents], self._roster)
        if self._manifest is None:
            known = class_of(documents, found)
        else:
            found = claimed(documents, found, self._manifest)
            known = on_sheets(class_of(documents, found), self._manifest, self._bank)
        if self._settings["anonymous"]:
            known = hidden(known, read_key(self._settings["key_file"]))
        return known

    # ------------------------------------------------------------------------------- judging

    def _reports(self, known: Any) -> list[Any]:
        from headwright.homework.batch import judge_many

        settings = self._settings
        folder = None if settings["dry_run"] else settings["html_folder"]
        tally = Tally(len(known.documents))
        with (
            saying_how_to_go_on(settings["store"], tally, "documents"),
            cluster_of(settings["cluster"]) as executor,
            store_of(settings["store"], "check") as store,
        ):
            how = {"executor": executor, "store": store, "workers": settings["workers"]}
            shown = {"pages": bool(folder), "hidden": self._hidden()}
            judged = judge_many(known.documents, self._banks(known), **shown, **how)
            outcomes = known.signed(counted(judged, "checking", tally))
            if folder:
                return self._with_pages(Path(folder), known, outcomes)
            return [outcome.report for outcome in outcomes]

    def _hidden(self) -> list[str]:
        """Questions that the rubric does not show to students."""
        from headwright.course.marks import VISIBLE

        worth = self._rubric.questions.items()
        return [question for question, one in worth if one.visibility != VISIBLE]

    def _banks(self, known: Any) -> Any:
        """One bank for all, or each student's own."""
        if not known.sheets:
            return self._bank
        return lambda source: known.sheets[source.name].bank

    def _with_pages(self, path: Path, known: Any, left: Iterator[Any]) -> list[Any]:
        """The reports, with pages written on the way; what cannot be written is noted once and
        costs no verdict."""
        from headwright.cli.check.class_index import class_index, marks_of
        from headwright.cli.check.marking import graded_of
        from headwright.homework.showing import page_folder

        reports: list[Any] = []

        def write_pages() -> None:
            with page_folder.opened(path) as folder:
                for outcome in left:
                    reports.append(outcome.report)
                    folder.add(outcome.report, outcome.page)
                graded = graded_of(known, reports, self._rubric)
                in_a_course = self._roster is not None or bool(self._settings["rubric_file"])
                folder.complete(marks_of(folder.entries, graded, in_a_course=in_a_course))
                index = class_index(folder.entries, known, graded, self._bank, self._roster)
                self._finish(folder, index)

        self._outputs.attempt(write_pages)
        return reports + [outcome.report for outcome in left]

    def _finish(self, folder: Any, index: str) -> None:
        """One student of a class may be looked at again: the pages of the others stay."""
        if self._roster is None or self._settings["anonymous"]:
            folder.finish(index)
            return
        self._whole_class = folder.finish_part(
            index, lambda name: Path(name).is_file() and not given.is_below(name, self._paths)
        )

    # ------------------------------------------------------------------------------- outputs

    def _write(self, result: Any) -> None:
        """Every output that can be written."""
        from headwright.course.packs import gradescope
        from headwright.homework.showing import exports
        from headwright.homework.showing.human_queue import human_queue

        settings = self._settings
        attempt = self._outputs.attempt
        if settings["csv_file"]:
            table = exports.as_csv(result.reports, result.worth)
            attempt(lambda: write_text(settings["csv_file"], table))
        if settings["human_file"]:
            attempt(lambda: write_text(settings["human_file"], human_queue(result.reports)))
        if settings["gradescope_file"]:
            titles = {question.id: question.title for question in self._bank}
            results = gradescope.of_one_submission(result.reports, self._rubric, titles)
            attempt(lambda: write_json(settings["gradescope_file"], results))
        if self._gradebook is not None:
            self._fill_gradebook(result)

    def _fill_gradebook(self, result: Any) -> None:
        from headwright.course.gradebook import fill
        from headwright.files import write_bytes

        settings = self._settings
        filled = fill(
            self._gradebook,
            result.graded,
            self._roster or (),
            column=settings["column"],
            overwrite=settings["overwrite"],
        )
        written = filled.sheet.written()
        self._outputs.attempt(lambda: write_bytes(settings["out_file"], written))
        result.data["gradebook"] = filled.told()

    def _changes(self, result: Any) -> Reply:
        from headwright.course.changes import changes

        assert self._old is not None
        found = changes(self._old, result.data, self._paths)
        data = {"changes": found, "run": result.data["run"]}
        return _Verdicts(result, data, lambda c: course_view.changes(c, found), self._outputs)


def _read(path: str | None, reader: Any) -> Any:
    return reader(path) if path is not None else None
