/** Bins an octave: neighbouring bins differ by 9 %. */
const BINS_PER_OCTAVE = 8
const BINS = 400
/** Values from 2⁻²⁵ to 2²⁵ have bins of their own. Deviations in units of their own spread do not leave that. */
const MIDDLE = BINS / 2
/** Before so many values nothing counts as rare. */
const WARM_UP = 100
/** What was never seen is the rarer the farther it is beyond what was. */
const EXCESS_WEIGHT = 2

/** Says of each of a stream of values how rare one so large has been so far, in powers of ten: 3 means once in a thousand. */
export class Rarity {
  private readonly counts = new Uint32Array(BINS)
  private seen = 0
  private largest = 0

  next(value: number): number {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(MIDDLE + BINS_PER_OCTAVE * Math.log2(Math.max(value, 1e-9)))))
    let asLarge = 0
    for (let at = bin; at < BINS; at++) asLarge += this.counts[at] ?? 0
    const isKnown = this.seen >= WARM_UP
    const excess = value > this.largest && this.largest > 0 ? EXCESS_WEIGHT * Math.log10(value / this.largest) : 0
    const rarity = isKnown ? Math.log10((this.seen + 1) / (asLarge + 1)) + excess : 0
    this.counts[bin] = (this.counts[bin] ?? 0) + 1
    this.seen++
    this.largest = Math.max(this.largest, value)
    return rarity
  }
}
