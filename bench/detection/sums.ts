/** Sums of any stretch of a series at once. */
export class Sums {
  readonly #before: Float64Array

  constructor(series: Float64Array) {
    this.#before = new Float64Array(series.length + 1)
    for (let at = 0; at < series.length; at++) this.#before[at + 1] = (this.#before[at] ?? 0) + (series[at] ?? 0)
  }

  /** Sum of the slots from `from` up to, not including, `to`. */
  between(from: number, to: number): number {
    return (this.#before[Math.max(0, to)] ?? 0) - (this.#before[Math.max(0, from)] ?? 0)
  }
}
