"""Data sets: from CSV files into the server, standardised there, and the same numbers out again; and rows
that are made in the server."""
import csv
import gzip
import io
import os

import numpy as np

import database

NOT_FEATURES = ("id", "y", "is_test", "train")


class Missing(Exception):
    """A data set that no folder has."""


class DataSet:
    """Tables bench.NAME_train and bench.NAME_test (id, x, y), and their rows as arrays."""

    def __init__(self, name, train, test, scaled):
        self.tables = {part: "bench.%s_%s" % (name, part) for part in ("train", "test")}
        load(name)
        for part, rule in (("train", train), ("test", test)):
            split(name, self.tables[part], rule, train, scaled)
        self.x, self.y = rows(self.tables["train"])
        self.x_test, self.y_test = rows(self.tables["test"])
        (self.n, self.d), self.m = self.x.shape, len(self.y_test)

    @property
    def text(self):
        """Train rows, as programs of bench read them."""
        both = np.column_stack([self.x, self.y]).tolist()
        return "\n".join(["%d %d" % (self.n, self.d)] + [" ".join(map(repr, row)) for row in both])


class Family:
    """A table of n rows of one family, made in the server: uniform features of variance 1, two noisy classes
    that no plane separates."""

    def __init__(self, n, d=20):
        self.n, self.d, self.m = n, d, 0
        table = "bench.family_%d" % n
        self.tables = {"train": table, "test": table}
        x = ", ".join(["sqrt(12) * (random() - 0.5)"] * d)
        database.run("SELECT setseed(0.5); CREATE SCHEMA IF NOT EXISTS bench; DROP TABLE IF EXISTS {0}; "
                     "CREATE TABLE {0} AS SELECT id, x, sign(x[1] * x[2] + x[3] + random() - 0.5) AS y "
                     "FROM (SELECT id, ARRAY[{1}] AS x FROM generate_series(1, {2}) AS id) AS made"
                     .format(table, x, n))
        database.run("VACUUM (FREEZE, ANALYZE) " + table)


def find(name):
    """The file of a data set, open for reading as text."""
    for folder in os.environ.get("KML_DATA", "").split(":") + ["test/data"]:
        for ending, opener in ((".csv", open), (".csv.gz", gzip.open)):
            path = os.path.join(folder, name + ending)
            if folder and os.path.exists(path):
                return opener(path, "rt")
    raise Missing(name)


def features(row, target):
    """x as an array literal: a column x, or every column that is no key or target."""
    if "x" in row:
        return row["x"]
    return "{%s}" % ",".join(v for column, v in row.items() if column not in (*NOT_FEATURES, target))


def load(name):
    """Create bench.NAME_raw (id, x, y); the target is the column y, else the last one."""
    with find(name) as file:
        records = list(csv.DictReader(file))
    target = "y" if "y" in records[0] else list(records[0])[-1]
    labels = {label: i for i, label in enumerate(sorted({r[target] for r in records}))}
    lines = io.StringIO()
    for r in records:
        lines.write("%s\t%s\t%s\n" % (r["id"], features(r, target), number(r[target], labels)))
    database.run("CREATE SCHEMA IF NOT EXISTS bench; DROP TABLE IF EXISTS bench.{0}_raw; "
                 "CREATE TABLE bench.{0}_raw (id int, x float8[], y float8)".format(name))
    database.run("COPY bench.%s_raw FROM STDIN" % name, lines.getvalue())


def number(text, labels):
    """A target as a number; a label that is none by its place among all labels."""
    try:
        return float(text)
    except ValueError:
        return float(labels[text])


def split(name, table, rule, train, scaled):
    """Rows of one part as a table of its own, standardised by the train rows."""
    x = "kernelml.transform((SELECT kernelml.fit('scale', x) FROM bench.%s_raw WHERE %s), x)" % (name, train)
    database.run("DROP TABLE IF EXISTS {0}; CREATE TABLE {0} AS SELECT id, {1} AS x, y FROM bench.{2}_raw "
                 "WHERE {3} ORDER BY id".format(table, x if scaled else "x", name, rule))
    database.run("VACUUM (FREEZE, ANALYZE) %s" % table)


def rows(table):
    """x and y of a table, in its order, to the last bit."""
    lines = database.run("COPY (SELECT array_to_string(x || y, ',') FROM %s ORDER BY id) TO STDOUT" % table)
    both = np.array([line.split(",") for line in lines.splitlines()], dtype=float)
    return np.ascontiguousarray(both[:, :-1]), both[:, -1].copy()
