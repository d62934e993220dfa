"""Writes the data sets of this folder from those that scikit-learn carries (see NOTICE)."""
import csv
import gzip
import io
from pathlib import Path

from sklearn import datasets
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).parent


def write(name, header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", *header])
    writer.writerows([i, *row] for i, row in enumerate(rows, 1))
    data = text.getvalue().encode()
    (FOLDER / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)


def numbers(values):
    return [int(v) if v == int(v) else float(v) for v in values]


def array(values):
    return "{" + ",".join(map(str, numbers(values))) + "}"


def main():
    cancer = datasets.load_breast_cancer()
    write("breast_cancer.csv", ["x", "diagnosis"],
          [(array(x), cancer.target_names[y]) for x, y in zip(cancer.data, cancer.target)])

    digits = datasets.load_digits()
    write("digits.csv.gz", ["x", "digit"],
          [(array(x), y) for x, y in zip(digits.data, digits.target)])

    diabetes = datasets.load_diabetes(scaled=False)
    write("diabetes.csv", [*diabetes.feature_names, "progression"],
          [(*numbers(x), int(y)) for x, y in zip(diabetes.data, diabetes.target)])

    for name, data in ("iris", datasets.load_iris()), ("wine", datasets.load_wine()):
        columns = [c.replace(" (cm)", "_cm").replace(" ", "_").replace("/", "_") for c in data.feature_names]
        write(f"{name}.csv", [*columns, "class"],
              [(*numbers(x), data.target_names[y]) for x, y in zip(data.data, data.target)])

    x, y = datasets.make_moons(600, noise=0.3, random_state=0)
    _, test = train_test_split(range(600), test_size=0.5, random_state=0)
    held_out = set(test)
    write("moons.csv", ["x1", "x2", "is_test", "y"],
          [(*numbers(x[i]), int(i in held_out), 1 if y[i] else -1) for i in range(600)])


main()
