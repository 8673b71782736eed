/** Something management changed that others keep in memory. */
export type Change = { kind: 'client'; id: string } | { kind: 'site'; id: string }

export type ChangeListener = (change: Change) => Promise<void> | void

/**
 * Tells listeners what management changed. `publish` resolves when every listener of this process has taken the change
 * in, so an answer that follows it is never contradicted by the next ingest request.
 */
export class ChangeFeed {
  readonly #listeners = new Set<ChangeListener>()

  /** Returns the function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async publish(change: Change): Promise<void> {
    await Promise.all([...this.#listeners].map(async (listener) => listener(change)))
  }
}
