"""Data sets: from CSV files into the server, standardised there, and the same numbers out again."""
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
        self.name = name
        self.tables = {part: "bench.%s_%s" % (name, part) for part in ("train", "test")}
        load(name)
        for part, rule in (("train", train), ("test", test)):
            split(name, self.tables[part], rule, train, scaled)
        self.x, self.y = rows(self.tables["train"])
        self.x_test, self.y_test = rows(self.tables["test"])
        self.n, self.d = self.x.shape


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


def family(n, d=20):
    """A table of n rows of one family: normal features, two noisy classes that no plane separates."""
    random, table = np.random.default_rng(1), "bench.family_%d" % n
    x = random.standard_normal((n, d))
    y = np.sign(x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * random.standard_normal(n))
    lines = "".join("%d\t{%s}\t%d\n" % (i, ",".join(map(repr, row.tolist())), label)
                    for i, (row, label) in enumerate(zip(x, y)))
    database.run("CREATE SCHEMA IF NOT EXISTS bench; DROP TABLE IF EXISTS {0}; "
                 "CREATE TABLE {0} (id int, x float8[], y float8)".format(table))
    database.run("COPY %s FROM STDIN" % table, lines)
    database.run("VACUUM (FREEZE, ANALYZE) %s" % table)
    return table
