import { grouped, markdownTable } from '../../bench/lib/table.ts'

const NO_ANSWER = 'closed'

/** Which answers came to what was sent. */
export class Tally {
  readonly #rows = new Map<string, Map<string, number>>()
  /** Requests sent, over all generators. */
  requests = 0

  sent(): void {
    this.requests++
  }

  answered(generator: string, status: number): void {
    this.#add(generator, String(status))
  }

  /** The connection was ended, which is an answer to what is no HTTP. */
  closed(generator: string): void {
    this.#add(generator, NO_ANSWER)
  }

  /** Takes in what another run counted. */
  absorb(other: Tally): void {
    this.requests += other.requests
    for (const [generator, statuses] of other.#rows) {
      for (const [status, count] of statuses) this.#add(generator, status, count)
    }
  }

  /** A row a generator, a column a status. */
  text(): string {
    const statuses = [...new Set([...this.#rows.values()].flatMap((row) => [...row.keys()]))].sort()
    const rows = [...this.#rows].map(([generator, row]) => [
      generator,
      ...statuses.map((status) => {
        const count = row.get(status)
        return count === undefined ? '' : grouped(count)
      }),
    ])
    return markdownTable(['generator', ...statuses], rows)
  }

  #add(generator: string, status: string, count = 1): void {
    let row = this.#rows.get(generator)
    if (row === undefined) {
      row = new Map()
      this.#rows.set(generator, row)
    }
    row.set(status, (row.get(status) ?? 0) + count)
  }
}
