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
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC
    return SimpleNamespace(SVC=SVC, KernelRidge=KernelRidge, RBFSampler=RBFSampler, Ridge=Ridge,
                           GaussianProcessRegressor=GaussianProcessRegressor, RBF=RBF, Matern=Matern,
                           ConstantKernel=ConstantKernel, WhiteKernel=WhiteKernel,
                           make_pipeline=make_pipeline, Centred=Centred)


def intelex():
    import daal4py
    from sklearnex.svm import SVC
    daal4py.daalinit(1)
    return SimpleNamespace(SVC=SVC)


LIBRARIES = {"sklearn": sklearn, "intelex": intelex}
TITLES = {"sklearn": "scikit-learn", "intelex": "scikit-learn-intelex"}


def svc_objective(model):
    """sum(alpha) - alpha'Q alpha / 2 of a fitted machine for two classes with an rbf kernel, else None."""
    if not hasattr(model, "dual_coef_") or model.kernel != "rbf" or model.dual_coef_.shape[0] != 1:
        return None
    coef, sv = model.dual_coef_.ravel(), model.support_vectors_
    norms = np.einsum("ij,ij->i", sv, sv)
    distances = np.maximum(norms[:, None] + norms[None, :] - 2 * sv @ sv.T, 0)
    return np.abs(coef).sum() - coef @ np.exp(-model.gamma * distances) @ coef / 2


def blas_kernels():
    """The BLAS of numpy and scipy, with the kernels that each chose."""
    import scipy.linalg  # noqa: F401  (loads a BLAS of its own)
    pools = [p for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"]
    return ", ".join(sorted({"%s %s %s" % (p["internal_api"], p["version"], p.get("architecture", ""))
                             for p in pools}))
