"""What is measured: one entry a job.

A job has a learner and the train and test rows of a data set (or a number of rows of data.Family, which are
all train).  Its forms (forms.py) are timed in turn with what is beside them: libraries, in which `peer` makes
the estimator, and "primitives", the bare operations that bound a form (arguments of bench/primitives.c, with
n and m the train and test rows, d the features).  forms: form -> beside -> how many times faster the form is
wanted, None for no such wish.  room: bytes that the first form may take, from n.

Summaries, growths and pairs of processes are lines below the table.
"""
from dataclasses import dataclass, field, replace
from typing import Callable


@dataclass(frozen=True)
class Job:
    name: str
    data: str | int
    learner: str
    forms: dict
    peer: Callable = None
    primitives: dict = field(default_factory=dict)
    measures: tuple = ()
    kernel: str = ""
    train: str = "id % 3 <> 0"
    test: str = "id % 3 = 0"
    scaled: bool = True
    memory: str = "1GB"
    room: Callable = None


@dataclass(frozen=True)
class Summary:
    """The geometric mean over jobs of how many times faster one form is than the better of the libraries."""
    jobs: tuple
    form: str
    libraries: tuple
    mean: float = None          # wanted
    least: float = None         # wanted of each job


@dataclass(frozen=True)
class Growth:
    """One fit at several numbers of rows of one family."""
    name: str
    learner: str
    sizes: tuple = (5000, 10000, 20000, 40000)


@dataclass(frozen=True)
class Workers:
    """One form in two parallel workers on two cores, beside one process."""
    name: str
    data: int
    learner: str
    form: str
    wanted: float


MB, GB = 2 ** 20, 2 ** 30


def beside(factor, *libraries):
    return dict.fromkeys(libraries or ("sklearn",), factor)


def matrix(n):
    """1.2 times the n x n matrix."""
    return 1.2 * 8 * n * n


# ---- support vector machines ----------------------------------------------------------------
BOTH = ("sklearn", "intelex")
MACHINE = dict(
    forms={"fit": beside(3.5, *BOTH), "predict_w": beside(1.5, *BOTH), "predict": beside(None, *BOTH)},
    room=lambda n: GB)
CLASSES, VALUES = ("accuracy", "objective", "rows kept"), ("rmse", "objective", "rows kept")
A9A = dict(data="a9a", learner="svc(rbf(gamma=0.05), c=1)", peer=lambda lib: lib.SVC(C=1, gamma=0.05),
           train="id <= 32561", test="id > 32561", scaled=False)
SMALL = dict(forms={form: beside(1) for form in ("fit", "predict_w", "predict")}, measures=CLASSES)

MACHINES = [
    Job("svc magic", "magic", "svc(rbf(gamma=0.1), c=1)", measures=CLASSES,
        peer=lambda lib: lib.SVC(C=1, gamma=0.1), **MACHINE),
    Job("svc spambase", "spambase", "svc(rbf(gamma=0.02), c=10)", measures=CLASSES,
        peer=lambda lib: lib.SVC(C=10, gamma=0.02), **MACHINE),
    Job("svc letter", "letter", "svc(rbf(gamma=0.0625), c=10)", measures=CLASSES,
        peer=lambda lib: lib.SVC(C=10, gamma=0.0625), train="id <= 16000", test="id > 16000", **MACHINE),
    Job("svc usps", "usps", "svc(rbf(gamma=0.0078125), c=10)", measures=CLASSES, scaled=False,
        peer=lambda lib: lib.SVC(C=10, gamma=0.0078125), train="id <= 7291", test="id > 7291", **MACHINE),
    Job("svc a9a", **A9A, measures=CLASSES, **MACHINE),
    Job("svr cpusmall", "cpusmall", "svr(rbf(gamma=0.1), c=20, epsilon=1)", measures=VALUES,
        peer=lambda lib: lib.SVR(C=20, epsilon=1, gamma=0.1), **MACHINE),
]

# ---- kernel ridge regression, Gaussian processes -------------------------------------------
PREDICTIONS = {form: beside(1) for form in ("predict_w", "predict", "predict_batch")}


def ridge(text, **parameters):
    """krr of a kernel, and K alone, beside the same with scikit-learn's parameters."""
    return Job("krr %s digits" % parameters["kernel"], "digits", "krr(%s, lambda=1)" % text, kernel=text,
               scaled=False, measures=("rmse",),
               peer=lambda lib: lib.Centred(lib.KernelRidge(alpha=1, **parameters)),
               forms={"gram": beside(1), "fit": beside(1), **PREDICTIONS})


def gram(text, **parameters):
    """K alone, where it is not positive semidefinite."""
    return replace(ridge(text, **parameters), name="gram %s digits" % parameters["kernel"],
                   forms={"gram": beside(1)}, measures=())


RIDGES = [
    ridge("rbf(gamma=0.001)", kernel="rbf", gamma=0.001),
    ridge("laplacian(gamma=0.002)", kernel="laplacian", gamma=0.002),
    ridge("poly(degree=3, gamma=0.001, coef0=1)", kernel="poly", degree=3, gamma=0.001, coef0=1),
    ridge("linear", kernel="linear"),
    ridge("cosine", kernel="cosine"),
    ridge("chi2(gamma=0.01)", kernel="chi2", gamma=0.01),
    gram("additive_chi2", kernel="additive_chi2"),
    gram("sigmoid(gamma=0.0001)", kernel="sigmoid", gamma=0.0001, coef0=0),
    Job("krr diabetes", "diabetes", "krr(rbf(gamma=0.02), lambda=2)", {"fit": beside(1), **PREDICTIONS},
        measures=("rmse",), peer=lambda lib: lib.Centred(lib.KernelRidge(kernel="rbf", gamma=0.02, alpha=2))),
    Job("krr cpusmall", "cpusmall", "krr(rbf(gamma=0.1), lambda=0.1)",
        {"fit": {"sklearn": 1, "primitives": 1 / 1.25}, **PREDICTIONS}, measures=("rmse",), room=matrix,
        peer=lambda lib: lib.Centred(lib.KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1)),
        primitives={"fit": ("gram {n} {d}", "dpotrf {n}")}),
]

EVALUATION = dict(data="cpusmall", train="id <= 2000", test="id BETWEEN 2001 AND 3000",
                  measures=("log likelihood",),
                  primitives={"likelihood": ("dpotrf {n}", "dpotri {n}")})


def process(kernel, noise, **options):
    """scikit-learn's Gaussian process of a kernel (lib -> kernel) with noise of its own."""
    return lambda lib: lib.Centred(lib.GaussianProcessRegressor(
        kernel(lib) + lib.WhiteKernel(noise), alpha=0, **options))


PROCESSES = [
    Job("gp kin8nm", "kin8nm", "gp(rbf(gamma=0.06), noise=0.1)",
        {"fit": {"sklearn": 1, "primitives": 1 / 1.4}, **PREDICTIONS,
         "predict_dist_batch": {"sklearn": 1, "primitives": 1 / 1.3}},
        train="id <= 3000", test="id BETWEEN 3001 AND 4000", measures=("rmse", "deviation"), room=matrix,
        peer=lambda lib: lib.Centred(lib.GaussianProcessRegressor(lib.RBF((2 * 0.06) ** -0.5), alpha=0.1,
                                                                  optimizer=None)),
        primitives={"fit": ("dpotrf {n}",), "predict_dist_batch": ("dtrsm {n} {m}",)}),
    Job("gp likelihood cpusmall", learner="gp(100*rbf(length_scale=2), noise=10)", **EVALUATION,
        forms={"likelihood": {"sklearn": 1, "primitives": 1 / 1.4}},
        peer=process(lambda lib: lib.ConstantKernel(100) * lib.RBF(2), 10, optimizer=None)),
    Job("gp likelihood cpusmall, 12 lengths", **EVALUATION,
        learner="gp(100*rbf(length_scale=[2,2,2,2,2,2,2,2,2,2,2,2]), noise=10)",
        forms={"likelihood": {"sklearn": 5, "primitives": None}},
        peer=process(lambda lib: lib.ConstantKernel(100) * lib.RBF([2.0] * 12), 10, optimizer=None)),
    Job("gp concrete, optimize", "concrete",
        "gp(250*matern(nu=2.5, length_scale=2), noise=20, optimize=true)", {"fit": beside(2.5)},
        peer=process(lambda lib: lib.ConstantKernel(250) * lib.Matern(2, nu=2.5), 20),
        measures=("rmse", "log likelihood")),
    Job("gp concrete, optimize 8 lengths", "concrete",
        "gp(250*rbf(length_scale=[2,2,2,2,2,2,2,2]), noise=20, optimize=true)", {"fit": beside(2.5)},
        peer=process(lambda lib: lib.ConstantKernel(250) * lib.RBF([2.0] * 8), 20),
        measures=("rmse", "log likelihood")),
    Job("gpc breast_cancer", "breast_cancer", "gpc(10*rbf(length_scale=5))",
        {"fit": beside(1), "predict_w": beside(1), "predict_proba": beside(1)}, measures=("accuracy",),
        peer=lambda lib: lib.GaussianProcessClassifier(lib.ConstantKernel(10) * lib.RBF(5), optimizer=None)),
]

# ---- features -----------------------------------------------------------------------------
SUMS = "rff(rbf(gamma=0.05), n_components=1000)"

FEATURES = [
    Job("rff | ridge california", "california",
        "rff(rbf(gamma=0.125), n_components=1000) | ridge(lambda=1)", measures=("rmse",),
        peer=lambda lib: lib.make_pipeline(
            lib.RBFSampler(gamma=0.125, n_components=1000, random_state=0), lib.Ridge(alpha=1)),
        forms={"fit": {"sklearn": 1.4, "primitives": 1 / 1.35}, "predict_w": beside(2), "predict": beside(2)},
        primitives={"fit": ("dsyrk {n} 1000", "features {n} {d} 1000")}),
    Job("nystroem | ridge california", "california",
        "nystroem(rbf(gamma=0.125), n_components=500) | ridge(lambda=1)", measures=("rmse",),
        peer=lambda lib: lib.make_pipeline(
            lib.Nystroem(gamma=0.125, n_components=500, random_state=0), lib.Ridge(alpha=1)),
        forms={"fit": {"sklearn": 2.5, "primitives": None}, "predict_w": beside(2), "predict": beside(2)},
        primitives={"fit": ("dsyrk {n} 500",)}),
    Job("accumulate D=1000", 1_000_000, SUMS, {"accumulate": {"primitives": 0.75}},
        primitives={"accumulate": ("dsyrk {n} 1000",)}, room=lambda n: 64 * MB),
]

JOBS = [
    Job("svc breast_cancer", "breast_cancer", "svc(rbf(gamma=0.03), c=10)",
        peer=lambda lib: lib.SVC(C=10, gamma=0.03), **SMALL),
    Job("svc digits", "digits", "svc(rbf(gamma=0.001), c=10)", scaled=False,
        peer=lambda lib: lib.SVC(C=10, gamma=0.001), **SMALL),
    *MACHINES,
    Job("svc a9a, 256 MB", **A9A, forms={"fit": beside(3.5, "intelex")}, measures=CLASSES, memory="256MB",
        room=lambda n: 256 * MB),
    *RIDGES, *PROCESSES, *FEATURES,
]

# ---- below the table ------------------------------------------------------------------------
SIX = tuple(job.name for job in MACHINES)
SUMMARIES = [
    Summary(SIX, "fit", BOTH, mean=6, least=3.5),
    Summary(SIX, "predict_w", BOTH, mean=1.5),
    Summary(SIX, "predict_w", ("sklearn",), mean=8),
    Summary(SIX, "predict", BOTH),
    Summary(SIX, "predict", ("sklearn",)),
]

GROWTHS = [
    Growth("svc growth", "svc(rbf(gamma=0.05), c=1)"),
    Growth("svr growth", "svr(rbf(gamma=0.05), c=1)"),
]

WORKERS = [
    Workers("accumulate D=1000, two workers", 1_000_000, SUMS, "accumulate", wanted=1.7),
]
