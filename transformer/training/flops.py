"""How many floating-point operations a batch takes, and how many this machine can do per second: MFU needs both.

Nearly all of them are in matrix products. A product (n, k) @ (k, m) is n k m multiplications and as many additions,
2 n k m floating-point operations (FLOP). In B rows of S source and T target positions, with N target tokens that are
predicted, one pass forward multiplies

    encoder, each layer    B S (4 D^2 + 2 D F)            W^Q W^K W^V W^O and the feed-forward network
                           2 B S^2 D                      scores, and weights times values
    decoder, each layer    B T (6 D^2 + 2 D F)            self-attention, W^Q W^O of cross-attention, feed-forward
                           2 B S D^2                      W^K W^V of the encoder's output
                           2 B T^2 D + 2 B S T D          scores, and weights times values, of both
    output                 N D V                          only where a token is predicted

and training multiplies three times as much: forward, and backward for the inputs and for the weights. (The paper
estimates the number in table 2 by the hours that its GPUs ran.) Embeddings, norms, dropout and softmax have few
operations per number and still take time, so no training reaches the peak. The share of the peak that it reaches is its
MFU (model FLOPs utilisation). The peak is usually the one that the manufacturer states; here it is measured.
"""

import math
import time
from functools import cache

import torch

from transformer.config import ModelConfig, TrainingPrecision
from transformer.data.batches import Batch
from transformer.training.autocast import autocast

FORWARD_AND_BACKWARD = 3
SIDES = {"cpu": 2048, "cuda": 8192, "mps": 4096}  # of the square matrices that the peak is measured with
PREFIXES = ("", "k", "M", "G", "T", "P")
MEASURE_FOR = 0.15  # seconds
SMALLER = 8  # products with sides so many times smaller show whether the large products would take too long
LONGEST = 2.0  # seconds that one large product may take


def training_flop(config: ModelConfig, batch: Batch) -> int:
    """Floating-point operations of one training step of all ranks, forward and backward, without the optimizer.

    Padding counts, because it is multiplied like all else, except at the output.
    """
    rows, source, target, predicted = batch.whole
    d, f = config.d_model, config.d_ff
    encoder = rows * source * (4 * d * d + 2 * d * f) + 2 * rows * source * source * d
    decoder = rows * target * (6 * d * d + 2 * d * f) + 2 * rows * source * d * d
    decoder += 2 * rows * target * target * d + 2 * rows * source * target * d
    output = predicted * d * config.vocab_size
    forward = 2 * (config.encoder_layers * encoder + config.decoder_layers * decoder + output)
    return FORWARD_AND_BACKWARD * forward


@cache
def measured_peak(device: torch.device, precision: TrainingPrecision) -> float:
    """FLOP per second of large square matrix products on this device, the fastest of several.

    Takes about a fifth of a second, once per process. Other programs make the result smaller. Where large products
    would take far longer, as in float16 on a CPU without instructions for it, the peak is measured with smaller ones.
    """
    side = SIDES[device.type]
    smaller = side // SMALLER
    quick = fastest_product(smaller, device, precision, MEASURE_FOR / SMALLER)
    if SMALLER**3 * quick > LONGEST:
        return 2 * smaller**3 / quick
    return 2 * side**3 / fastest_product(side, device, precision, MEASURE_FOR)


def fastest_product(side: int, device: torch.device, precision: TrainingPrecision, during: float) -> float:
    """Multiplies two square matrices again and again, `during` so many seconds. Returns the seconds of the fastest
    product."""
    left, right = (torch.ones(side, side, device=device) for _ in range(2))
    with torch.no_grad(), autocast(device, precision):
        if torch.is_autocast_enabled(device.type):
            left, right = (x.to(torch.get_autocast_dtype(device.type)) for x in (left, right))
        float((left @ right)[0, 0])  # not timed: the first product is slow
        best, began = float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - began < during:
            start = time.perf_counter()
            float((left @ right)[0, 0])  # waits for the result
            best = min(best, time.perf_counter() - start)
    return best


def readable(value: float, unit: str) -> str:
    """1.23e12, "FLOP/s" -> "1.23 TFLOP/s"."""
    thousands = min(int(math.log10(max(value, 1.0))) // 3, len(PREFIXES) - 1)
    return f"{value / 1000**thousands:.3g} {PREFIXES[thousands]}{unit}"
