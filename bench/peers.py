"""The peers: a job in scikit-learn or scikit-learn-intelex, under one set of names."""
import functools
import itertools
import time
from types import SimpleNamespace

import numpy as np
import threadpoolctl

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
TITLES = {"sklearn": "scikit-learn", "intelex": "scikit-learn-intelex"}


class Peer:
    """One estimator of a library, fitted at most once beyond what is timed."""

    def __init__(self, job, rows, name, clock):
        self.make, self.rows = functools.partial(job.peer, library(name)), rows
        self.clock, self.fitted = CLOCKS[clock], None

    def fit(self):
        self.fitted = self.make().fit(self.rows.x, self.rows.y)

    @property
    def model(self):
        if self.fitted is None:
            self.fit()
        return self.fitted

    def predict(self):
        return self.model.predict(self.rows.x_test)

    def predict_proba(self):
        return self.model.predict_proba(self.rows.x_test)

    def distribution(self):
        """Means and standard deviations."""
        return self.model.distribution(self.rows.x_test)

    def likelihood(self):
        """Of a Gaussian process, with its gradient."""
        process = self.model.estimator
        return process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True, clone_kernel=False)

    def gram(self):
        """K of a kernel ridge regression, as its fit makes it."""
        return self.make().estimator._get_kernel(self.rows.x)

    def seconds(self, form):
        if form.fitted:
            self.model      # not timed
        start = self.clock()
        form.peer(self)
        return self.clock() - start


class Centred:
    """An estimator fitted on y less its mean, as krr and gp do."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, x, y):
        self.mean = y.mean()
        self.estimator.fit(x, y - self.mean)
        return self

    def predict(self, x):
        return self.estimator.predict(x) + self.mean

    def distribution(self, x):
        mean, deviation = self.estimator.predict(x, return_std=True)
        return mean + self.mean, deviation

    @property
    def log_likelihood(self):
        return self.estimator.log_marginal_likelihood_value_


# ---- libraries ------------------------------------------------------------------------------
def sklearn():
    """Every name imported here, and Centred."""
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, SVR
    return SimpleNamespace(Centred=Centred, **locals())


def intelex():
    import daal4py
    from sklearnex.svm import SVC, SVR
    daal4py.daalinit(1)         # threads
    return SimpleNamespace(SVC=SVC, SVR=SVR)


LIBRARIES = {"sklearn": sklearn, "intelex": intelex}


@functools.lru_cache(maxsize=None)
def library(name):
    return LIBRARIES[name]()


def blas_kernels():
    """The BLAS of numpy and scipy, with the kernels that each chose."""
    import scipy.linalg  # noqa: F401  (loads a BLAS of its own)
    pools = [p for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"]
    return ", ".join(sorted({"%s %s %s" % (p["internal_api"], p["version"], p.get("architecture", ""))
                             for p in pools}))


# ---- the dual's value of a machine with an rbf kernel ------------------------------------------
def svm_objective(model, y):
    """Of the machines of all pairs of classes together, or of one of regression: sum(alpha), or y'beta -
    epsilon sum|beta|, less half the squared norm."""
    machines = pair_machines(model) if hasattr(model, "classes_") else [(slice(None), model.dual_coef_[0])]
    value = 0.0
    for rows, coef in machines:
        linear = np.abs(coef).sum()
        if not hasattr(model, "classes_"):
            linear = y[model.support_] @ coef - model.epsilon * linear
        value += linear - squared_norm(coef, model.support_vectors_[rows], model.gamma) / 2
    return value


def pair_machines(model):
    """Support rows and coefficients of the machine of each pair p < q of classes.  Rows stand class by class;
    dual_coef_ has those of p against q in line q - 1, those of q against p in line p."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    for p, q in itertools.combinations(range(len(model.classes_)), 2):
        of_p, of_q = np.arange(ends[p], ends[p + 1]), np.arange(ends[q], ends[q + 1])
        coef = np.concatenate([model.dual_coef_[q - 1, of_p], model.dual_coef_[p, of_q]])
        yield np.concatenate([of_p, of_q])[coef != 0], coef[coef != 0]


def squared_norm(coef, sv, gamma, block=1000):
    """coef'K coef, by blocks of rows of K."""
    norms, total = np.einsum("ij,ij->i", sv, sv), 0.0
    for i in range(0, len(coef), block):
        part = slice(i, i + block)
        distances = np.maximum(norms[part, None] + norms[None, :] - 2 * sv[part] @ sv.T, 0)
        total += coef[part] @ (np.exp(-gamma * distances) @ coef)
    return total
