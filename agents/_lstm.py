"""A recurrent layer (LSTM), computed by numpy: its output depends on the earlier observations of the episode."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["LSTM"]


class LSTM:
    """Long short-term memory, one layer. With the input x, the last output h and the cell state c:

        i, f, o = sigmoid(W x + b + U h + d)      g = tanh(W x + b + U h + d)
        c       = f * c + i * g                   h = o * tanh(c)

    Each of i, f, g and o uses a quarter of the rows of W, U, b and d, in the order i, f, g, o.

    Args:
        parameters: by torch's names.
        prefix: of these names.

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
        """Compute the new h and c.

        Args:
            x: the input, shape `(n_inputs,)`.
            held: the previous h and c, shape `(2, size)`; zeros at the beginning of an episode.
        """
        h, c = held
        i, f, g, o = (self._w @ x + self._u @ h + self._b).reshape(4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return np.stack([_sigmoid(o) * np.tanh(c), c])


def _sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    # Computed from tanh, which does not overflow for large negative x as exp(-x) would.
    half = np.float32(0.5)
    values: NDArray[np.float32] = half + half * np.tanh(half * x)
    return values
