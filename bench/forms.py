"""The forms of a job: what is timed in the server, and what a peer does beside it; and the measures, which
say how good the answers are.  Statements have {learner}, {kernel} and the tables {train}, {test}; from
the table model (m) they take what the learner fitted to the train rows."""
from dataclasses import dataclass
from typing import Callable

import numpy as np

import peers


@dataclass(frozen=True)
class Form:
    ours: str                       # a statement, or the name of a program on core: "likelihood"
    peer: Callable = None           # of a Peer of sides.py
    part: str = "test"              # the rows that are gone through
    fitted: bool = True             # of what was fitted before
    most_seconds: float = 10        # for its rounds; two are always done


FIT = "SELECT fit('{learner}', x, y) AS m FROM {train}"
MATRIX = "(SELECT array_agg(x ORDER BY id) FROM {test})"

FORMS = {
    "gram": Form("SELECT cardinality(gram('{kernel}', x)) FROM {train}", peers.Peer.gram, "train", False),
    "fit": Form("SELECT length(m) FROM (%s) AS fitted" % FIT, peers.Peer.fit, "train", False, 60),
    "accumulate": Form("SELECT accumulator_info(accumulate('{learner}', x, y)) FROM {train}", None, "train",
                       False),
    "likelihood": Form("likelihood", peers.Peer.likelihood, "train"),
    "predict_w": Form("SELECT sum(p) FROM (SELECT predict_w(m, x) OVER () AS p FROM {test}, model) AS scored",
                      peers.Peer.predict),
    "predict": Form("SELECT sum(predict(m, x)) FROM {test}, model", peers.Peer.predict),
    "predict_batch": Form("SELECT cardinality(predict_batch(m, %s)) FROM model" % MATRIX, peers.Peer.predict),
    "predict_proba": Form("SELECT sum((predict_proba(m, x))[1]) FROM {test}, model",
                          peers.Peer.predict_proba),
    "predict_dist_batch": Form("SELECT sum(variance) FROM model, predict_dist_batch(m, %s)" % MATRIX,
                               peers.Peer.distribution),
}


@dataclass(frozen=True)
class Measure:
    ours: str                       # an expression
    peer: Callable                  # of a Peer; None: ours alone
    digits: int = 5
    agree: float = None             # a larger relative difference between the two is marked


def model_info(fact):
    return "(SELECT (model_info(m) ->> '%s')::float8 FROM model)" % fact


MEASURES = {
    "accuracy": Measure("(SELECT avg((predict(m, x) = y)::int) FROM {test}, model)",
                        lambda peer: np.mean(peer.predict() == peer.rows.y_test)),
    "rmse": Measure("(SELECT sqrt(avg((predict(m, x) - y) ^ 2)) FROM {test}, model)",
                    lambda peer: np.sqrt(np.mean((peer.predict() - peer.rows.y_test) ** 2))),
    "deviation": Measure("(SELECT avg(sqrt(variance)) FROM model, predict_dist_batch(m, %s))" % MATRIX,
                         lambda peer: np.mean(peer.distribution()[1]), agree=1e-6),
    "objective": Measure(model_info("objective"), lambda peer: peers.svm_objective(peer.model, peer.rows.y),
                         digits=9, agree=1e-6),
    "rows kept": Measure(model_info("rows_kept"), None, digits=9),
    "log likelihood": Measure(model_info("log_marginal_likelihood"),
                              lambda peer: peer.model.log_likelihood, digits=9),
}
