/** Mean and standard deviation of a stream, in which a value counts less the older it is (West 1979). */
export class RunningMoments {
  private readonly memory: number
  private count = 0
  private average = 0
  private variance = 0

  /** @param memory how many values it remembers, about */
  constructor(memory: number) {
    this.memory = memory
  }

  get mean(): number | null {
    return this.count === 0 ? null : this.average
  }

  /** How many standard deviations `value` lies from the mean; 0 while too little is known. */
  deviation(value: number): number {
    return this.count < MIN_VALUES || this.variance === 0 ? 0 : (value - this.average) / Math.sqrt(this.variance)
  }

  add(value: number): void {
    this.count++
    const weight = Math.max(1 / this.memory, 1 / this.count)
    const difference = value - this.average
    this.average += weight * difference
    this.variance = (1 - weight) * (this.variance + weight * difference ** 2)
  }
}

const MIN_VALUES = 20
