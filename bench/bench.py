"""Times the jobs of jobs.py beside their peers, and prints a Markdown table.  bench/run calls it."""
import argparse
import collections
import datetime
import functools
import importlib.metadata
import os
import platform
import subprocess
import sys
import time

import numpy as np

import data
import database
import peers
from jobs import GROWTHS, JOBS

PRIMITIVES = os.environ.get("PRIMITIVES", "build/bench/primitives")
MOST_SECONDS = 60       # for the rounds of one job; two are always done
RESULTS = "bench/results.md"
COLUMNS = (("job", 38), ("rows x features", 15), ("form", 9), ("kernelml, s", 11), ("beside", 20),
           ("its time, s", 11), ("times faster", 12), ("wanted", 6),
           ("kernelml's result", 38), ("the other's", 38))
ABOUT = """\
One thread on one core for either side, the two in turn, the least of several rounds, in seconds of
%s; the BLAS of each chooses its own kernels.  kernelml's time is that of the
SQL statement, scan of the table included; a peer has its rows in memory.  Both get the same
numbers, standardised beforehand where that suits the job.  Primitives are the operations that
bound a job, measured alone in the same rounds (bench/primitives.c).  A "!" marks what is missed.
"""
CLOCKS = {"wall": "the wall clock", "cpu": "processor time"}

FIT = "CREATE TEMP TABLE model AS SELECT fit('{learner}', x, y) AS m FROM {train}"
FORMS = {
    "fit": "SELECT length(fit('{learner}', x, y)) FROM {train}",
    "predict": "SELECT sum(predict(m, x)) FROM {test}, model",
    "predict_w": "SELECT sum(p) FROM (SELECT predict_w(m, x) OVER () AS p FROM {test}, model) AS scored",
}
MEASURES = {
    "accuracy": ("avg((predict(m, x) = y)::int)", lambda got, y: np.mean(got == y)),
    "rmse": ("sqrt(avg((predict(m, x) - y) ^ 2))", lambda got, y: np.sqrt(np.mean((got - y) ** 2))),
}

dataset = functools.lru_cache(maxsize=None)(data.DataSet)
library = functools.lru_cache(maxsize=None)(lambda name: peers.LIBRARIES[name]())


# ---- the sides of a job: each does what is timed and says how good its answer is ----------
class Ours:
    """A job in the server.  The first fit, not timed, also warms up."""

    def __init__(self, job, rows, session):
        self.session, self.measure = session, job.measure
        session.execute("SET kernelml.max_memory = '%s'" % job.memory)
        self.names = dict(rows.tables, learner=job.learner.replace("'", "''"))
        session.execute(FIT.format(**self.names))

    def seconds(self, form):
        before = self.session.cpu_seconds()
        _, wall = self.session.execute(FORMS[form].format(**self.names))
        return {"wall": wall, "cpu": self.session.cpu_seconds() - before}

    def result(self):
        quality, objective = self.session.execute(
            "SELECT %s, (SELECT model_info(m) ->> 'objective' FROM model) FROM %s, model"
            % (MEASURES[self.measure][0], self.names["test"]))[0].split("|")
        return described(self.measure, float(quality), float(objective) if objective else None)


class Peer:
    """The same job in a library of Python's."""

    def __init__(self, job, rows, name):
        self.make, self.measure, self.rows = functools.partial(job.peer, library(name)), job.measure, rows
        self.model = self.make().fit(rows.x, rows.y)

    def seconds(self, form):
        estimator = self.make()
        wall, cpu = time.perf_counter(), time.process_time()
        if form == "fit":
            estimator.fit(self.rows.x, self.rows.y)
        else:
            self.model.predict(self.rows.x_test)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    def result(self):
        quality = MEASURES[self.measure][1](self.model.predict(self.rows.x_test), self.rows.y_test)
        return described(self.measure, quality, peers.svm_objective(self.model, self.rows.y))


class Primitives:
    """The bare operations of a job; only a fit has some."""

    def __init__(self, job, rows, clock):
        self.commands = [p.format(n=rows.n, d=rows.d).split() for p in job.primitives]
        self.least, self.clock = [float("inf")] * len(self.commands), clock

    def seconds(self, _form):
        for i, command in enumerate(self.commands):
            self.least[i] = min(self.least[i], float(primitive(self.clock, *command)))
        return {self.clock: sum(self.least)}

    def result(self):
        return " + ".join("%s %s" % (command[0], digits(least))
                          for command, least in zip(self.commands, self.least))


def primitive(*arguments):
    run = subprocess.run([PRIMITIVES, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.strip()


# ---- one job --------------------------------------------------------------------------------
def measure(job, options, core):
    """Rows of the table for one job."""
    rows = dataset(job.data, job.train, job.test, job.scaled)
    with database.Session(core) as session:
        ours = Ours(job, rows, session)
        others = {name: Peer(job, rows, name) for name in job.libraries if name in options.peers}
        if job.primitives:
            others["primitives"] = Primitives(job, rows, options.clock)
        least = rounds(job, ours, others, options)
        for form in job.forms:
            size = "%s x %d" % (format(rows.n if form == "fit" else len(rows.y_test), ","), rows.d)
            for name, other in others.items():
                if (name, form) in least:
                    yield line(job, size, form, least["kernelml", form], name, least[name, form],
                               ours.result(), other.result())


def rounds(job, ours, others, options):
    """The least seconds of each side and form, the sides in turn."""
    least, start = collections.defaultdict(lambda: float("inf")), time.perf_counter()
    for done in range(options.repeat):
        if done >= 2 and time.perf_counter() - start > MOST_SECONDS:
            break
        for form in job.forms:
            for name, side in {"kernelml": ours, **others}.items():
                if name != "primitives" or form == "fit":
                    least[name, form] = min(least[name, form], side.seconds(form)[options.clock])
    return least


def line(job, size, form, mine, name, its, result, its_result):
    """The cells of one row."""
    faster, wanted = its / mine, job.wanted.get(name)
    goal = "" if wanted is None else "%.2f%s" % (wanted, "" if faster >= wanted else " !")
    return (job.name, size, form, digits(mine), peers.TITLES.get(name, name), digits(its),
            "%.2f" % faster, goal, result, its_result)


# ---- growth ---------------------------------------------------------------------------------
def growth(job, options, core):
    """A line: seconds of the fit at each size, and the exponent of their growth."""
    seconds = []
    with database.Session(core) as session:
        for n in job.sizes:
            names = {"train": data.family(n), "learner": job.learner}
            before = session.cpu_seconds()
            _, wall = session.execute(FORMS["fit"].format(**names))
            seconds.append(session.cpu_seconds() - before if options.clock == "cpu" else wall)
    exponent = np.polyfit(np.log(job.sizes), np.log(seconds), 1)[0]
    return "- %s, %s: %s; exponent %.2f" % (job.name, job.learner, ", ".join(
        "%s rows %s s" % (format(n, ","), digits(s)) for n, s in zip(job.sizes, seconds)), exponent)


# ---- text -----------------------------------------------------------------------------------
def digits(seconds):
    """Three digits that count."""
    return "%.*f" % (4 if seconds < 0.1 else 3 if seconds < 1 else 2, seconds)


def described(name, quality, objective):
    return "%s %.5g" % (name, quality) + ("" if objective is None else ", objective %.9g" % objective)


def table_row(cells):
    padded = (str(cell).replace("|", "\\|").ljust(width) for cell, (_, width) in zip(cells, COLUMNS))
    return "| " + " | ".join(padded) + " |"


def heading():
    return "\n".join([table_row([name for name, _ in COLUMNS]),
                      "|" + "|".join("-" * (width + 2) for _, width in COLUMNS) + "|"])


def cpu():
    """The model's name and the widest instruction set that is used."""
    with open("/proc/cpuinfo") as file:
        facts = {key.strip(): value.strip() for key, _, value in (entry.partition(":") for entry in file)}
    flags = facts.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2") if flag in flags), "")
    return " ".join(filter(None, (facts.get("model name", platform.machine()), widest)))


def environment(used):
    """Where and of what the figures are."""
    versions = ", ".join("%s %s" % (title, importlib.metadata.version(title))
                         for title in map(peers.TITLES.get, used))
    return "\n".join([
        "- %s; %s" % (datetime.date.today(), cpu()),
        "- kernelml %s, PostgreSQL %s, BLAS: %s" % (
            database.run("SELECT kernelml.kernelml_version()").strip(),
            database.run("SHOW server_version").split()[0], primitive("kernels")),
        "- %s, numpy %s, BLAS: %s" % (versions, np.__version__, peers.blas_kernels())])


# ---- all jobs -------------------------------------------------------------------------------
def arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the table in " + RESULTS)
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="rounds of each job (default 7)")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: processor time, steadier on a busy machine")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["sklearn"],
                        help="sklearn (default), or sklearn,intelex")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="part of a job's name; all jobs by default")
    return parser.parse_args()


def chosen(jobs, parts):
    return [job for job in jobs if not parts or any(part in job.name for part in parts)]


def table(options, core):
    """Print the table as it grows; its text, and whether every job ran."""
    text, notes, complete = [], [], True

    def show(part):
        print(part, flush=True)
        text.append(part)

    show("\n".join([ABOUT % CLOCKS[options.clock], environment(options.peers), "", heading()]))
    for job in chosen(JOBS, options.jobs):
        try:
            for cells in measure(job, options, core):
                show(table_row(cells))
        except data.Missing:
            notes.append("- %s: skipped, no data set %s (KML_DATA: folders with more)" % (job.name, job.data))
        except (RuntimeError, subprocess.CalledProcessError) as error:
            notes.append("- %s: failed: %s" % (job.name, error))
            complete = False
    notes += [growth(job, options, core) for job in chosen(GROWTHS, options.jobs)]
    show("\n".join(["", *notes]))
    return "\n".join(text), complete


def main():
    options = arguments()
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    database.run("CREATE EXTENSION IF NOT EXISTS kernelml")
    for name in options.peers:
        library(name)
    text, complete = table(options, core)
    if options.write:
        with open(RESULTS, "w") as file:
            file.write("# Measurements\n\nWritten by `bench/run --write`.\n\n%s\n" % text.rstrip())
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
