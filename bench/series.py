"""What is no row of the table: growth with the number of rows, and parallel workers."""
import numpy as np

import data
import database
from forms import FORMS
from report import digits, goal


def growth(job, options, core):
    """A line: seconds of the fit at each size, and the exponent of their growth."""
    seconds = []
    with database.Session(core) as session:
        for n in job.sizes:
            statement = FORMS["fit"].ours.format(learner=job.learner, **data.Family(n).tables)
            before = session.cpu_seconds()
            _, wall = session.execute(statement)
            seconds.append(session.cpu_seconds() - before if options.clock == "cpu" else wall)
    exponent = np.polyfit(np.log(job.sizes), np.log(seconds), 1)[0]
    return "- %s, %s: %s; exponent %.2f" % (job.name, job.learner, ", ".join(
        "%s rows %s s" % (format(n, ","), digits(s)) for n, s in zip(job.sizes, seconds)), exponent)


# Two processes that scan, and the leader only waits.
PARALLEL = ("SET parallel_leader_participation = off; SET parallel_setup_cost = 0; "
            "SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2")


def workers(job, options, core):
    """A line: the wall clock of a form in one process on one core, and in two workers on any."""
    statement = FORMS[job.form].ours.format(learner=job.learner, **data.Family(job.data).tables)
    least = [float("inf")] * 2
    with database.Session(core) as alone, database.Session() as leader:
        leader.execute(PARALLEL)
        plan, _ = leader.execute("EXPLAIN " + statement)
        if "Workers Planned: 2" not in plan:
            raise RuntimeError("no plan of two workers")
        for _ in range(min(options.repeat, 3)):
            for i, session in enumerate((alone, leader)):
                least[i] = min(least[i], session.execute(statement)[1])
    faster = least[0] / least[1]
    return "- %s, %s rows, by the wall clock: one process %s s, two workers %s s: %.2f times (wanted %s)" % (
        job.name, format(job.data, ","), *map(digits, least), faster, goal(faster, job.wanted))
