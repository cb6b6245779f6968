"""A network of fully connected layers, computed by numpy, so that a policy trained with torch acts without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Network"]

Activation = Literal["tanh", "relu"]


class Network:
    """Layers of the form activation(W x + b); the last layer has no activation.

    Args:
        layers: a matrix and a vector for each layer, at least one.
        activation: between the layers.
    """

    def __init__(
        self, layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], activation: Activation
    ) -> None:
        self._layers = list(layers)
        self._activation = activation

    @classmethod
    def of(
        cls, parameters: Mapping[str, NDArray[np.float32]], prefixes: Sequence[str], activation: Activation
    ) -> Network:
        """A network from parameters that are called `PREFIX.weight`, or `PREFIX.0.weight`, `PREFIX.2.weight` and so on.

        Args:
            parameters: by torch's names.
            prefixes: the parts of the network in order; each is a layer or a sequence of layers.
            activation: between the layers.
        """
        layers = []
        for prefix in prefixes:
            names = [name for name in parameters if name.startswith(f"{prefix}.") and name.endswith("weight")]
            for name in sorted(names, key=lambda name: (len(name), name)):
                layers.append((parameters[name], parameters[name.removesuffix("weight") + "bias"]))
        return cls(layers, activation)

    @property
    def n_inputs(self) -> int:
        """Length of an input."""
        return int(self._layers[0][0].shape[1])

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """The outputs for one input."""
        *hidden, (weight, bias) = self._layers
        for w, b in hidden:
            x = w @ x + b
            x = np.tanh(x) if self._activation == "tanh" else np.maximum(x, 0)
        outputs: NDArray[np.float32] = weight @ x + bias
        return outputs
