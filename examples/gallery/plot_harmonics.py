"""
Harmonics: lines closer than the Fourier resolution
===================================================

The current of a motor with a broken rotor bar has weak lines beside the mains frequency. A quarter of a second resolves
4 Hz by Fourier transform, and the noise is not white. The pair ``R u = λ N u`` of the covariances of record and noise
separates signal from noise: one pair of large eigenvalues per line, all others near the power of the noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

import splitmerge as sm
from splitmerge.learn import harmonic_retrieval

# %%
# Mains at 50 Hz and side lines 3 Hz away, in noise that rises towards zero frequency. A longer record of the noise
# alone tells its colour.

rate, samples = 500.0, 125  # Hz; 0.25 s
lines, amplitudes = np.array([47.0, 50.0, 53.0]), np.array([0.3, 1.0, 0.3])
rng = np.random.default_rng(1)
t = np.arange(samples) / rate


def coloured(count):
    return 0.01 * lfilter([1.0], [1.0, -0.97], rng.standard_normal(count + 500))[500:]


x = amplitudes @ np.cos(2 * np.pi * lines[:, None] * t + np.array([[0.3], [1.0], [2.0]])) + coloured(samples)
noise = coloured(20_000)
found = harmonic_retrieval(x, 3, noise=noise, fs=rate)
white = harmonic_retrieval(x, 3, fs=rate)
print("frequencies [Hz], colour of the noise known:", found.frequencies.round(2))
print("frequencies [Hz], white noise assumed:      ", white.frequencies.round(2))
print("amplitudes:", abs(found.amplitudes).round(2))

# %%
# The pair, written out: covariances of frames of m samples, averaged over the record and its reversal. Six eigenvalues
# stand out, two for each real line.

m = found.order


def covariance(record):
    frames = np.lib.stride_tricks.sliding_window_view(record, m)
    both = np.concatenate([frames, frames[:, ::-1]])
    return both.T @ both / len(both)


R, N = covariance(x), covariance(noise)
sol = sm.solve(R, N, k=10, rng=0)
print(f"m = {m}, eigenvalues:", *(f"{value:.1f}" for value in sol.eigenvalues))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# The periodogram has one peak where there are three lines. MUSIC, which looks for sinusoids that are orthogonal to the
# eigenvectors of the noise, has three. With white noise assumed, the strong noise at low frequencies passes for a line.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.8, 6.2), layout="constrained")
frequencies = np.linspace(0, 250, 5001)
power = abs(np.exp(-2j * np.pi * frequencies[:, None] * t) @ x) ** 2
curves = [
    (power, "0.6", "-", "periodogram"),
    (white.spectrum(frequencies), "#D55E00", "--", "MUSIC, white noise assumed"),
    (found.spectrum(frequencies), "#0072B2", "-", "MUSIC, noise known"),
]
for ax in (top, bottom):
    for spectrum, colour, style, label in curves:
        ax.plot(frequencies, 10 * np.log10(spectrum / spectrum.max()), style, color=colour, label=label)
    ax.set(xlabel="frequency [Hz]", ylabel="power [dB]")
    ax.grid(alpha=0.3)
top.set(title="The whole band", xlim=(0, 250), ylim=(-80, 5))
bottom.set(title="Zoom (dotted: true lines)", xlim=(40, 60), ylim=(-42, 3), xticks=range(40, 61, 5))
for line in lines:
    bottom.axvline(line, color="k", linestyle=":", linewidth=1)
figure.legend(*top.get_legend_handles_labels(), loc="outside upper center")
plt.show()

# %%
# The eigenvalues tell how many lines there are: two of each stand out. ``sol.plot("spectrum")`` draws them with their
# error bounds, which are far too small to be seen here, on axes that can be given.

figure, ax = plt.subplots(figsize=(4.8, 3), layout="constrained")
sol.plot("spectrum", ax=ax)
ax.set(yscale="log", title="Eigenvalues of the pair (R, N)")
ax.annotate("two per line", (6, sol.eigenvalues[3]), ha="center")
ax.annotate("noise", (8.5, 6), ha="center", va="bottom")
plt.show()
