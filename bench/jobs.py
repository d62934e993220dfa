"""What is measured: one entry a job.

A job fits the learner on the train rows of a data set.  Timed are the forms it names: "fit", and
of the held-out rows "predict" and "predict_w".  Beside it in the same rounds run the peers
(peer: library -> estimator with fit and predict) and the bare operations that bound it
(primitives: arguments of bench/primitives.c, with n, d the sizes of the train rows).
wanted: how many times faster than each the job is to be.

A growth is one fit at several numbers of rows of one generated family.
"""
from dataclasses import dataclass, field
from typing import Callable


@dataclass(frozen=True)
class Job:
    name: str
    data: str
    learner: str
    peer: Callable
    measure: str = "accuracy"
    forms: tuple = ("fit",)
    libraries: tuple = ("sklearn",)
    primitives: tuple = ()
    wanted: dict = field(default_factory=dict)
    train: str = "id % 3 <> 0"
    test: str = "id % 3 = 0"
    scaled: bool = True
    memory: str = "1GB"


@dataclass(frozen=True)
class Growth:
    name: str
    learner: str
    sizes: tuple = (5000, 10000, 20000, 40000)


SCORING = ("predict_w", "predict")
ALL_FORMS = ("fit", *SCORING)
MAGIC = dict(data="magic", learner="svc(rbf(gamma=0.1), c=1)", libraries=("sklearn", "intelex"),
             peer=lambda lib: lib.SVC(C=1, gamma=0.1))
SVMS = ("sklearn", "intelex")
BETTER = {"sklearn": 3.5, "intelex": 3.5}
A9A = dict(data="a9a", learner="svc(rbf(gamma=0.05), c=1)", libraries=SVMS, train="id <= 32561",
           test="id > 32561", scaled=False, peer=lambda lib: lib.SVC(C=1, gamma=0.05), wanted=BETTER)
CALIFORNIA = dict(data="california", measure="rmse",
                  learner="rff(rbf(gamma=0.125), n_components=1000) | ridge(lambda=1)",
                  peer=lambda lib: lib.make_pipeline(
                      lib.RBFSampler(gamma=0.125, n_components=1000, random_state=0), lib.Ridge(alpha=1)))
LANDMARKS = dict(data="california", measure="rmse",
                 learner="nystroem(rbf(gamma=0.125), n_components=500) | ridge(lambda=1)",
                 peer=lambda lib: lib.make_pipeline(
                     lib.Nystroem(gamma=0.125, n_components=500, random_state=0), lib.Ridge(alpha=1)))

JOBS = [
    Job("svc breast_cancer", "breast_cancer", "svc(rbf(gamma=0.03), c=10)", forms=ALL_FORMS,
        peer=lambda lib: lib.SVC(C=10, gamma=0.03)),
    Job("svc digits", "digits", "svc(rbf(gamma=0.001), c=10)", forms=ALL_FORMS, scaled=False,
        peer=lambda lib: lib.SVC(C=10, gamma=0.001)),
    Job("krr diabetes", "diabetes", "krr(rbf(gamma=0.02), lambda=2)", measure="rmse",
        peer=lambda lib: lib.Centred(lib.KernelRidge(kernel="rbf", gamma=0.02, alpha=2))),

    Job("svc magic", **MAGIC, wanted=BETTER),
    Job("svc magic, held-out rows", **MAGIC, forms=SCORING, wanted={"sklearn": 8}),
    Job("svc spambase", "spambase", "svc(rbf(gamma=0.02), c=10)", libraries=SVMS,
        peer=lambda lib: lib.SVC(C=10, gamma=0.02), wanted=BETTER),
    Job("svc letter", "letter", "svc(rbf(gamma=0.0625), c=10)", libraries=SVMS, train="id <= 16000",
        test="id > 16000", peer=lambda lib: lib.SVC(C=10, gamma=0.0625), wanted=BETTER),
    Job("svc usps", "usps", "svc(rbf(gamma=0.0078125), c=10)", libraries=SVMS, train="id <= 7291",
        test="id > 7291", scaled=False, peer=lambda lib: lib.SVC(C=10, gamma=0.0078125), wanted=BETTER),
    Job("svc a9a", **A9A),
    Job("svc a9a, 256 MB", **A9A, memory="256MB"),
    Job("svr cpusmall", "cpusmall", "svr(rbf(gamma=0.1), c=20, epsilon=1)", measure="rmse", libraries=SVMS,
        peer=lambda lib: lib.SVR(C=20, epsilon=1, gamma=0.1), wanted=BETTER),
    Job("krr cpusmall", "cpusmall", "krr(rbf(gamma=0.1), lambda=0.1)", measure="rmse",
        peer=lambda lib: lib.Centred(lib.KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1)),
        primitives=("gram {n} {d}", "dpotrf {n}"), wanted={"primitives": 1 / 1.25}),
    Job("gp kin8nm", "kin8nm", "gp(rbf(gamma=0.06), noise=0.1)", measure="rmse",
        train="id <= 3000", test="id BETWEEN 3001 AND 4000",
        peer=lambda lib: lib.Centred(lib.GaussianProcessRegressor(lib.RBF((2 * 0.06) ** -0.5), alpha=0.1,
                                                                  optimizer=None)),
        primitives=("dpotrf {n}",), wanted={"primitives": 1 / 1.4, "sklearn": 1}),
    Job("gp concrete, optimize", "concrete", measure="rmse",
        learner="gp(250*matern(nu=2.5, length_scale=2), noise=20, optimize=true)",
        peer=lambda lib: lib.Centred(lib.GaussianProcessRegressor(
            lib.ConstantKernel(250) * lib.Matern(2, nu=2.5) + lib.WhiteKernel(20), alpha=0)),
        wanted={"sklearn": 2.5}),
    Job("gp concrete, optimize 8 lengths", "concrete", measure="rmse",
        learner="gp(250*rbf(length_scale=[2,2,2,2,2,2,2,2]), noise=20, optimize=true)",
        peer=lambda lib: lib.Centred(lib.GaussianProcessRegressor(
            lib.ConstantKernel(250) * lib.RBF([2.0] * 8) + lib.WhiteKernel(20), alpha=0)),
        wanted={"sklearn": 5}),
    Job("rff | ridge california", **CALIFORNIA, primitives=("dsyrk {n} 1000", "features {n} {d} 1000"),
        wanted={"sklearn": 1.4, "primitives": 1 / 1.35}),
    Job("rff | ridge california, held-out rows", **CALIFORNIA, forms=SCORING, wanted={"sklearn": 2}),
    Job("nystroem | ridge california", **LANDMARKS, primitives=("dsyrk {n} 500",), wanted={"sklearn": 2.5}),
    Job("nystroem | ridge california, held-out rows", **LANDMARKS, forms=SCORING, wanted={"sklearn": 2}),
]

GROWTHS = [
    Growth("svc growth", "svc(rbf(gamma=0.05), c=1)"),
    Growth("svr growth", "svr(rbf(gamma=0.05), c=1)"),
]
