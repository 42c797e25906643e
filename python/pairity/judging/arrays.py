"""The arrays that judging passes around."""

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
