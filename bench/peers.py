"""The peers: estimators of scikit-learn and scikit-learn-intelex under one set of names."""
from types import SimpleNamespace

import numpy as np
import threadpoolctl


class Centred:
    """An estimator fitted on y less its mean, as krr does."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, x, y):
        self.mean = y.mean()
        self.estimator.fit(x, y - self.mean)
        return self

    def predict(self, x):
        return self.estimator.predict(x) + self.mean


def sklearn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, SVR
    return SimpleNamespace(SVC=SVC, SVR=SVR, KernelRidge=KernelRidge, Nystroem=Nystroem, RBFSampler=RBFSampler,
                           Ridge=Ridge, GaussianProcessRegressor=GaussianProcessRegressor, RBF=RBF,
                           Matern=Matern, ConstantKernel=ConstantKernel, WhiteKernel=WhiteKernel,
                           make_pipeline=make_pipeline, Centred=Centred)


def intelex():
    import daal4py
    from sklearnex.svm import SVC, SVR
    daal4py.daalinit(1)
    return SimpleNamespace(SVC=SVC, SVR=SVR)


LIBRARIES = {"sklearn": sklearn, "intelex": intelex}
TITLES = {"sklearn": "scikit-learn", "intelex": "scikit-learn-intelex"}


def svm_objective(model, y):
    """The dual's value of a fitted machine of one function with an rbf kernel, else None: sum(alpha), or
    y'beta - epsilon sum|beta|, less half the squared norm."""
    if not hasattr(model, "dual_coef_") or model.kernel != "rbf" or model.dual_coef_.shape[0] != 1:
        return None
    coef, sv = model.dual_coef_.ravel(), model.support_vectors_
    linear = np.abs(coef).sum()
    if not hasattr(model, "classes_"):
        linear = y[model.support_] @ coef - model.epsilon * linear
    return linear - squared_norm(coef, sv, model.gamma) / 2


def squared_norm(coef, sv, gamma, block=1000):
    """coef'K coef, by blocks of rows of K."""
    norms, total = np.einsum("ij,ij->i", sv, sv), 0.0
    for i in range(0, len(coef), block):
        part = slice(i, i + block)
        distances = np.maximum(norms[part, None] + norms[None, :] - 2 * sv[part] @ sv.T, 0)
        total += coef[part] @ (np.exp(-gamma * distances) @ coef)
    return total


def blas_kernels():
    """The BLAS of numpy and scipy, with the kernels that each chose."""
    import scipy.linalg  # noqa: F401  (loads a BLAS of its own)
    pools = [p for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"]
    return ", ".join(sorted({"%s %s %s" % (p["internal_api"], p["version"], p.get("architecture", ""))
                             for p in pools}))
