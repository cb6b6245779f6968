"""A layer with memory, computed by numpy: what was seen before in the episode is part of what it says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["LSTM"]


class LSTM:
    """Long short-term memory, one layer. With x the input, h what it said last and c what it keeps,

        i, f, o = sigmoid(W x + b + U h + d)      g = tanh(W x + b + U h + d)
        c       = f * c + i * g                   h = o * tanh(c)

    each of i, f, g and o with a quarter of the rows of W, U, b and d, in the order i, f, g, o.

    Args:
        parameters: by the names that torch gives them.
        prefix: what these names begin with.

    References:
        Hochreiter and Schmidhuber 1997, Long Short-Term Memory; with the forget gate f of Gers, Schmidhuber and Cummins
        2000, Learning to Forget.
    """

    def __init__(self, parameters: Mapping[str, NDArray[np.float32]], prefix: str) -> None:
        self._w = parameters[f"{prefix}.weight_ih_l0"]
        self._u = parameters[f"{prefix}.weight_hh_l0"]
        self._b = parameters[f"{prefix}.bias_ih_l0"] + parameters[f"{prefix}.bias_hh_l0"]

    @property
    def n_inputs(self) -> int:
        """Length of an input."""
        return int(self._w.shape[1])

    def __call__(self, x: NDArray[np.float32], held: NDArray[np.float32]) -> NDArray[np.float32]:
        """What it says and keeps now.

        Args:
            x: the input, shape `(n_inputs,)`.
            held: h and c, shape `(2, size)`; zeros at the beginning of an episode.
        """
        h, c = held
        i, f, g, o = (self._w @ x + self._u @ h + self._b).reshape(4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return np.stack([_sigmoid(o) * np.tanh(c), c])


def _sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    # Half a hyperbolic tangent: nothing overflows.
    half = np.float32(0.5)
    values: NDArray[np.float32] = half + half * np.tanh(half * x)
    return values
