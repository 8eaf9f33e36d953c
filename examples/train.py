"""A small training run in plain Python: fits a curve by gradient descent, about 20 seconds.

Each epoch draws a progress bar in place (carriage returns, as tqdm does) and ends with a line of the loss. The weights
go to IRIS_WORKDIR, the job's own folder, when there is one. On SIGTERM it saves what it has and leaves.
"""

import argparse
import json
import math
import os
import random
import signal
import sys
import time


class Stopped(Exception):
    pass


def stop(_signal, _frame):
    raise Stopped


def samples(count, seed):
    chance = random.Random(seed)
    points = [chance.uniform(-math.pi, math.pi) for _ in range(count)]
    return [(x, math.sin(x) + chance.gauss(0, 0.05)) for x in points]


def predict(weights, x):
    return sum(weight * (x / math.pi) ** power for power, weight in enumerate(weights))


def train_step(weights, batch, rate):
    """One step down the gradient of the mean squared error; gives the error before it."""
    gradient = [0.0] * len(weights)
    error = 0.0
    for x, y in batch:
        off = predict(weights, x) - y
        error += off * off
        for power in range(len(weights)):
            gradient[power] += 2 * off * (x / math.pi) ** power
    for power in range(len(weights)):
        weights[power] -= rate * gradient[power] / len(batch)
    return error / len(batch)


def draw_bar(epoch, epochs, done, steps, loss):
    filled = 24 * done // steps
    bar = "#" * filled + "." * (24 - filled)
    print(f"\repoch {epoch}/{epochs} [{bar}] {done}/{steps} loss {loss:.4f}", end="", flush=True)


def save(weights, loss):
    folder = os.environ.get("IRIS_WORKDIR")
    if folder is None:
        return
    with open(os.path.join(folder, "weights.json"), "w", encoding="utf-8") as file:
        json.dump({"weights": weights, "loss": loss}, file)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--epochs", type=int, default=20)
    options.add_argument("--seconds", type=float, default=20.0, help="about how long the whole run takes")
    options.add_argument("--rate", type=float, default=0.5, help="learning rate")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()

    signal.signal(signal.SIGTERM, stop)
    data = samples(400, chosen.seed)
    steps = 20
    pause = chosen.seconds / (chosen.epochs * steps)
    weights = [0.0] * 6
    loss = float("nan")
    print(f"training on {len(data)} samples, {chosen.epochs} epochs, rate {chosen.rate}", flush=True)
    try:
        for epoch in range(1, chosen.epochs + 1):
            for step in range(steps):
                train_step(weights, data[step::steps], chosen.rate)
                loss = sum((predict(weights, x) - y) ** 2 for x, y in data) / len(data)
                draw_bar(epoch, chosen.epochs, step + 1, steps, loss)
                time.sleep(pause)
            # The line that stays, over the bar.
            print(f"\repoch {epoch}/{chosen.epochs} loss {loss:.4f}".ljust(72), flush=True)
    except Stopped:
        print("\nstopped: weights saved", flush=True)
        save(weights, loss)
        return 143
    save(weights, loss)
    print(f"done: loss {loss:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
