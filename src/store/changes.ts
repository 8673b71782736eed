/** Something management changed that others keep in memory. */
export type Change = { kind: 'client'; id: string } | { kind: 'site'; id: string }

export type ChangeListener = (change: Change) => Promise<void> | void

/**
 * Notifies listeners of changes by management. `publish` resolves when every listener of this process has applied the change,
 * so an answer that follows it is never contradicted by the next ingest request.
 */
export class ChangeFeed {
  readonly #listeners = new Set<ChangeListener>()
  readonly #announce: (change: Change) => void

  /** @param announce notifies the other processes on the same database, within a second */
  constructor(announce: (change: Change) => void = () => undefined) {
    this.#announce = announce
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async publish(change: Change): Promise<void> {
    this.#announce(change)
    await this.deliver(change)
  }

  /** Notifies only the listeners of this process. @throws what a listener throws, after notifying all */
  async deliver(change: Change): Promise<void> {
    const results = await Promise.allSettled([...this.#listeners].map(async (listener) => listener(change)))
    for (const outcome of results) if (outcome.status === 'rejected') throw outcome.reason
  }
}
