/** First come, first served for each caller, round-robin over the callers: one with many waiting items does not delay the others. */
export class FairQueue<T> {
  /** Callers in the order of their turns, none with an empty line. */
  readonly #lines = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How many items of this caller wait. */
  waiting(caller: string): number {
    return this.#lines.get(caller)?.length ?? 0
  }

  push(caller: string, item: T): void {
    const line = this.#lines.get(caller)
    if (line === undefined) this.#lines.set(caller, [item])
    else line.push(item)
    this.#size++
  }

  /** The next item of the caller whose turn it is; callers that `mayGo` refuses keep their turn. Undefined when there is none. */
  take(mayGo: (caller: string) => boolean = () => true): T | undefined {
    for (const [caller, line] of this.#lines) {
      if (!mayGo(caller)) continue
      // Taken out and put back behind the others: a Map keeps the order of insertion.
      this.#lines.delete(caller)
      const item = line.shift()
      if (line.length > 0) this.#lines.set(caller, line)
      this.#size--
      return item
    }
    return undefined
  }

  /** Takes one item out of the middle; false when it is not there any more. */
  remove(caller: string, item: T): boolean {
    const line = this.#lines.get(caller)
    const place = line?.indexOf(item) ?? -1
    if (line === undefined || place < 0) return false
    line.splice(place, 1)
    if (line.length === 0) this.#lines.delete(caller)
    this.#size--
    return true
  }
}
