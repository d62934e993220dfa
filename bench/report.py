"""The text of the report: rows of the table, the lines below it, and where the figures were measured."""
import datetime
import importlib.metadata
import platform
from dataclasses import dataclass

import numpy as np

import database
import peers
from forms import MEASURES
from server import program

ABOUT = """\
One thread on one core for either side, the two in turn, the least of several rounds, in seconds of
%s; the BLAS of each chooses its own kernels.  kernelml's time is that of the
SQL statement, scan of the table included; a peer has its rows in memory.  Both get the same
numbers, standardised beforehand where that suits the job.  Primitives are the operations that
bound a form, measured alone in the same rounds (bench/primitives.c); likelihood is one evaluation
with its gradient, in kernelml by the function that its search calls (bench/likelihood.c).  Results
stand beside the first form: in brackets the relative difference from kernelml's; of a machine the
rows of the kernel matrix that were kept at once; and the memory of its own that the backend took at
the peak, of what it may.  A "!" marks what is missed.
"""
CLOCKS = {"wall": "the wall clock", "cpu": "processor time"}
TITLES = {**peers.TITLES, "primitives": "primitives"}
COLUMNS = (("job", 33), ("rows x features", 15), ("form", 18), ("kernelml, s", 11), ("beside", 20),
           ("its time, s", 11), ("times faster", 12), ("wanted", 6),
           ("kernelml's result", 56), ("the other's", 56))


@dataclass(frozen=True)
class Row:
    """One form of a job beside one other, or beside none."""
    job: str
    size: tuple                 # rows, features
    form: str
    seconds: float
    beside: str = ""
    its_seconds: float = float("nan")
    wanted: float = None
    result: str = ""
    its_result: str = ""

    @property
    def faster(self):
        return self.its_seconds / self.seconds

    def text(self):
        cells = ["", "", ""]
        if self.beside:
            cells = [TITLES[self.beside], digits(self.its_seconds), "%.2f" % self.faster]
        return table_row([self.job, "%s x %d" % (format(self.size[0], ","), self.size[1]), self.form,
                          digits(self.seconds), *cells, goal(self.faster, self.wanted), self.result,
                          self.its_result])


def digits(seconds):
    """Three digits that count."""
    return "%.*f" % (4 if seconds < 0.1 else 3 if seconds < 1 else 2, seconds)


def goal(value, wanted):
    return "" if wanted is None else "%.2f%s" % (wanted, "" if value >= wanted else " !")


def table_row(cells):
    padded = (str(cell).replace("|", "\\|").ljust(width) for cell, (_, width) in zip(cells, COLUMNS))
    return "| " + " | ".join(padded) + " |"


def heading():
    return "\n".join([table_row([name for name, _ in COLUMNS]),
                      "|" + "|".join("-" * (width + 2) for _, width in COLUMNS) + "|"])


# ---- results ----------------------------------------------------------------------------------
def measured(values, ours=None):
    """Values by measure; how far from ours, for those that should be the same."""
    return ", ".join("%s %.*g" % (name, MEASURES[name].digits, value) + apart(name, value, ours)
                     for name, value in values.items())


def apart(name, value, ours):
    agree = MEASURES[name].agree
    if agree is None or ours is None:
        return ""
    difference = value / ours[name] - 1
    return " (%+.0e%s)" % (difference, "" if abs(difference) <= agree else " !")


def memory(taken, room):
    mega = 2 ** 20
    return "%.0f of %.0f MB%s" % (taken / mega, room / mega, "" if taken <= room else " !")


def parts(primitives):
    return " + ".join("%s %s" % (command[0], digits(least))
                      for command, least in zip(primitives.commands, primitives.least))


# ---- lines below the table --------------------------------------------------------------------
def summary_line(summary, rows, libraries):
    """None if fewer than two jobs, or not all libraries, were measured."""
    if not set(summary.libraries) <= set(libraries):
        return None
    faster = {(row.job, row.beside): row.faster for row in rows if row.form == summary.form}
    least = {job: min(faster[job, library] for library in summary.libraries)
             for job in summary.jobs if (job, summary.libraries[0]) in faster}
    if len(least) < 2:
        return None
    mean, worst = np.exp(np.mean(np.log(list(least.values())))), min(least, key=least.get)
    return "- %s of %d support vector machines over %s: geometric mean %.2f%s, least %.2f%s: %s" % (
        summary.form, len(least), " and ".join(peers.TITLES[name] for name in summary.libraries),
        mean, bracketed(goal(mean, summary.mean)),
        least[worst], bracketed(goal(least[worst], summary.least)), worst)


def bracketed(wanted):
    return " (wanted %s)" % wanted if wanted else ""


# ---- where ------------------------------------------------------------------------------------
def cpu():
    """The model's name and the widest instruction set that is used."""
    with open("/proc/cpuinfo") as file:
        facts = {key.strip(): value.strip() for key, _, value in (entry.partition(":") for entry in file)}
    flags = facts.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2") if flag in flags), "")
    return " ".join(filter(None, (facts.get("model name", platform.machine()), widest)))


def environment(libraries):
    """Where and of what the figures are."""
    versions = ", ".join("%s %s" % (title, importlib.metadata.version(title))
                         for title in map(peers.TITLES.get, libraries))
    return "\n".join([
        "- %s; %s" % (datetime.date.today(), cpu()),
        "- kernelml %s, PostgreSQL %s, BLAS: %s" % (
            database.run("SELECT kernelml.kernelml_version()").strip(),
            database.run("SHOW server_version").split()[0], program("primitives", "kernels")),
        "- %s, numpy %s, BLAS: %s" % (versions, np.__version__, peers.blas_kernels())])
