"""Two spectral lines closer than 1/T in coloured noise, by harmonic retrieval: `python examples/learn_harmonic.py`."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.signal import lfilter

from splitmerge.learn import harmonic_retrieval

RATE, SAMPLES, RHO, LEVEL = 1000.0, 128, 0.98, 0.3
# 3.9 Hz apart, half of the Fourier resolution of 128 ms.
LINES = np.array([300.0, 300.0 + 0.5 * RATE / SAMPLES])
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.7"


def coloured(samples, rng):
    """An AR(1) process whose power at zero frequency is 40 dB above that at the Nyquist frequency."""
    return LEVEL * lfilter([1.0], [1.0, -RHO], rng.standard_normal(samples + 1000))[1000:]


def measure(seed):
    """A record with two lines, and a longer record of noise only."""
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES) / RATE
    lines = np.cos(2 * np.pi * LINES[0] * t) + np.cos(2 * np.pi * LINES[1] * t + 1)
    return lines + coloured(SAMPLES, rng), coloured(4096, rng)


def both_found(result):
    """Is the error of both frequencies less than a third of their distance?"""
    return np.abs(result.frequencies - LINES).max() < np.ptp(LINES) / 3


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/learn_harmonic.png"), help="output figure")
    parser.add_argument("--records", type=int, default=40, help="number of records (default: 40)")
    options = parser.parse_args(argv)
    records = [measure(seed) for seed in range(options.records)]
    known = [harmonic_retrieval(x, 2, noise=noise, fs=RATE) for x, noise in records]
    guessed = [harmonic_retrieval(x, 2, fs=RATE) for x, _ in records]
    rates = [float(np.mean([both_found(each) for each in results])) for results in (known, guessed)]
    print(f"lines at {LINES.round(2)} Hz; found in the first record: {known[0].frequencies.round(2)}")
    print(f"both found in {rates[0]:.0%} of {len(records)} records with the noise known, in {rates[1]:.0%} without")
    figure = Figure(figsize=(13, 4.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    draw_spectra(left, records[0][0], known[0], guessed[0])
    draw_spectra(middle, records[0][0], known[0], guessed[0])
    left.set(xlim=(0, RATE / 2), ylim=(-65, 3), title="The first record")
    middle.plot(known[0].frequencies, [1.5] * 2, "v", color=BLUE, markersize=9, label="roots, noise known")
    middle.set(xlim=LINES.mean() + np.array([-15, 15]), ylim=(-32, 3), title="Zoom at 300 Hz")
    figure.legend(*middle.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    for line, column, marker in zip(LINES, np.array([each.frequencies for each in known]).T, "o^", strict=True):
        right.axvline(line, color="k", linestyle=":")
        right.plot(column, np.arange(1, len(column) + 1), marker, color=BLUE, label=f"found for {line:.1f} Hz")
    centre, resolved = LINES.mean(), RATE / SAMPLES
    right.errorbar(centre, -2, xerr=resolved / 2, color="k", capsize=5)
    right.text(centre, -2.8, f"1/T = {resolved:.1f} Hz", ha="center", va="top")
    right.set(xlabel="frequency [Hz]", ylabel="record", xlim=centre + np.array([-6, 6]), ylim=(-7, len(known) + 8))
    right.set_title("Roots in each record, noise known")
    right.legend(loc="upper center", ncols=2, fontsize="small")
    figure.suptitle(f"Two lines {np.ptp(LINES):.1f} Hz apart in {1000 * SAMPLES / RATE:.0f} ms of coloured noise")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=110)
    return {"frequencies": known[0].frequencies, "known": rates[0], "guessed": rates[1]}


def draw_spectra(axes, x, known, guessed):
    """The periodogram and both MUSIC spectra."""
    frequencies = np.fft.rfftfreq(64 * SAMPLES, 1 / RATE)
    spectra = [np.abs(np.fft.rfft(x, 64 * SAMPLES)) ** 2, guessed.spectrum(frequencies), known.spectrum(frequencies)]
    labels = ["periodogram", "MUSIC, white noise assumed", "MUSIC, noise known"]
    for power, label, style, colour in zip(spectra, labels, ("-", "--", "-"), (GREY, ORANGE, BLUE), strict=True):
        axes.plot(frequencies, 10 * np.log10(power / power.max()), style, color=colour, label=label)
    axes.vlines(LINES, -70, 10, color="k", linestyle=":", linewidth=1, label="true frequencies")
    axes.set(xlabel="frequency [Hz]", ylabel="dB relative to the peak")
    axes.grid(alpha=0.3)


if __name__ == "__main__":
    main()
