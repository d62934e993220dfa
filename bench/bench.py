"""Times the jobs of jobs.py beside their peers, and prints a Markdown table.  bench/run calls it."""
import argparse
import collections
import functools
import os
import subprocess
import sys
import time

import data
import database
import peers
import report
import series
from forms import FORMS, MEASURES
from jobs import GROWTHS, JOBS, SUMMARIES, WORKERS
from server import Primitives, Server

RESULTS = "bench/results.md"


# ---- one job --------------------------------------------------------------------------------
@functools.lru_cache(maxsize=1)         # the next data set may have the same tables
def dataset(name, *rules):
    return data.Family(name) if isinstance(name, int) else data.DataSet(name, *rules)


def measure(job, options, core):
    """Rows of the table for one job."""
    rows = dataset(job.data, job.train, job.test, job.scaled)
    wanted = {name for others in job.forms.values() for name in others}
    with database.Session(core) as session:
        server = Server(job, rows, session, options.clock)
        libraries = {name: peers.Peer(job, rows, name, options.clock)
                     for name in options.peers if name in wanted}
        results = None
        for form, others in job.forms.items():
            sides = {"kernelml": server, **{n: side for n, side in libraries.items() if n in others}}
            if form in job.primitives:
                sides["primitives"] = Primitives(job.primitives[form], rows, options.clock)
            least = rounds(FORMS[form], sides, options.repeat)
            if results is None:
                results = first_results(job, FORMS[form], server, libraries)
            yield from table_rows(job, form, rows, sides, least, results)


def rounds(form, sides, repeat):
    """The least seconds of each side, in turn."""
    least, start = collections.defaultdict(lambda: float("inf")), time.perf_counter()
    for done in range(repeat):
        if done >= 2 and time.perf_counter() - start > form.most_seconds:
            break
        for name, side in sides.items():
            least[name] = min(least[name], side.seconds(form))
    return least


def first_results(job, form, server, libraries):
    """How good the answers are, and the memory that the first form took, as text for each side."""
    ours = {name: server.measure(name) for name in job.measures}
    shared = [name for name in job.measures if MEASURES[name].peer]
    texts = {name: report.measured({m: MEASURES[m].peer(side) for m in shared}, ours)
             for name, side in libraries.items()}
    mine = [report.measured(ours)] if ours else []
    if job.room is not None:
        mine.append(report.memory(server.growth[form], job.room(server.rows.n)))
    return {"kernelml": ", ".join(mine), **texts}


def table_rows(job, form, rows, sides, least, results):
    """Each side's results stand in the first row that it has."""
    size = (rows.n if FORMS[form].part == "train" else rows.m, rows.d)
    mine = functools.partial(report.Row, job.name, size, form, least["kernelml"])
    if len(sides) == 1:
        yield mine(result=results.pop("kernelml", ""))
    for name, side in list(sides.items())[1:]:
        its = report.parts(side) if name == "primitives" else results.pop(name, "")
        yield mine(name, least[name], job.forms[form].get(name), results.pop("kernelml", ""), its)


# ---- all jobs -------------------------------------------------------------------------------
def arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the table in " + RESULTS)
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="rounds of each form (default 7)")
    parser.add_argument("--clock", choices=report.CLOCKS, default="wall",
                        help="cpu: processor time, steadier on a busy machine")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["sklearn"],
                        help="sklearn (default), or sklearn,intelex")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="part of a job's name; all jobs by default")
    return parser.parse_args()


class Report:
    """Prints as it grows, and keeps the text."""

    def __init__(self, options, core):
        self.options, self.core, self.text, self.rows, self.complete = options, core, [], [], True

    def show(self, text):
        print(text, flush=True)
        self.text.append(text)

    def chosen(self, jobs):
        parts = self.options.jobs
        return [job for job in jobs if not parts or any(part in job.name for part in parts)]

    def row(self, row):
        self.rows.append(row)
        self.show(row.text())

    def attempt(self, job, work):
        """Do the work of a job; a note if it cannot be done."""
        try:
            return work()
        except data.Missing as missing:
            return "- %s: skipped, no data set %s (KML_DATA: folders with more)" % (job.name, missing)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            self.complete = False
            return "- %s: failed: %s" % (job.name, error)

    def table(self, job):
        for row in measure(job, self.options, self.core):
            self.row(row)

    def write(self):
        options, core = self.options, self.core
        self.show("\n".join([report.ABOUT % report.CLOCKS[options.clock],
                             report.environment(options.peers), "", report.heading()]))
        notes = [self.attempt(job, lambda: self.table(job)) for job in self.chosen(JOBS)]
        self.show("")
        notes += [report.summary_line(summary, self.rows, options.peers) for summary in SUMMARIES]
        for line in filter(None, notes):
            self.show(line)
        for kind, jobs in ((series.growth, GROWTHS), (series.workers, WORKERS)):
            for job in self.chosen(jobs):
                self.show(self.attempt(job, lambda: kind(job, options, core)))


def main():
    options = arguments()
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    database.run("CREATE EXTENSION IF NOT EXISTS kernelml")
    for name in options.peers:
        peers.library(name)
    written = Report(options, core)
    written.write()
    if options.write:
        with open(RESULTS, "w") as file:
            file.write("# Measurements\n\nWritten by `bench/run --write`.\n\n%s\n"
                       % "\n".join(written.text).rstrip())
    return 0 if written.complete else 1


if __name__ == "__main__":
    sys.exit(main())
