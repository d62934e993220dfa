"""kernelml's side of a job: in the server, or by a program on its core; and the primitives."""
import functools
import os
import subprocess

from forms import FIT, MEASURES

PROGRAMS = os.environ.get("PROGRAMS", "build/bench")


def program(name, *arguments, stdin=None):
    """What a program of bench/*.c prints."""
    command = [os.path.join(PROGRAMS, name), *arguments]
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


class Server:
    """A job in a session of its own.  growth: form -> bytes of its own that the session grew by the first
    time, at the peak."""

    def __init__(self, job, rows, session, clock):
        self.rows, self.session, self.clock, self.growth, self.fitted = rows, session, clock, {}, False
        self.names = dict(rows.tables, learner=job.learner.replace("'", "''"), kernel=job.kernel)
        session.execute("SET kernelml.max_memory = '%s'" % job.memory)

    def seconds(self, form):
        if form.ours == "likelihood":
            return float(program("likelihood", self.clock, self.names["learner"], stdin=self.rows.text))
        if form.fitted:
            self.fit()
        before, cpu = self.session.private_bytes(), self.session.cpu_seconds()
        _, wall = self.execute(form.ours)
        cpu = self.session.cpu_seconds() - cpu
        self.growth.setdefault(form, self.session.private_bytes("VmHWM") - before)
        return {"wall": wall, "cpu": cpu}[self.clock]

    def fit(self):
        """The table model, once; analysed, as README advises."""
        if not self.fitted:
            self.execute("CREATE TEMP TABLE model AS " + FIT)
            self.execute("ANALYZE model")
            self.fitted = True

    def execute(self, statement):
        return self.session.execute(statement.format(**self.names))

    def measure(self, name):
        self.fit()
        return float(self.execute("SELECT " + MEASURES[name].ours)[0])


class Primitives:
    """The bare operations that bound one form of a job."""

    def __init__(self, commands, rows, clock):
        self.commands = [c.format(n=rows.n, d=rows.d, m=rows.m).split() for c in commands]
        self.least, self.clock = [float("inf")] * len(self.commands), clock

    def seconds(self, _form):
        for i, command in enumerate(self.commands):
            self.least[i] = min(self.least[i], float(program("primitives", self.clock, *command)))
        return sum(self.least)
