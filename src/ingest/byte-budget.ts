/** Bytes of requests under way at once, over all clients and of one client. */
export const BUDGET_BYTES = 67_108_864
export const BUDGET_BYTES_PER_CLIENT = 16_777_216
/** An extra allowance for small bodies: senders of large ones must not shut out all others. */
export const BUDGET_BYTES_FOR_SMALL = 16_777_216

/** Whose budget a refused body would exceed: its client's, or that of all clients together. */
export type BudgetScope = 'client' | 'all'

/**
 * Bounds the bytes of requests under way: from the first byte of a body until its answer. It bounds bytes, not requests,
 * because the sender decides how much memory a request takes: its text, and several times as much once it is parsed.
 */
export class ByteBudget {
  #bytes = 0
  readonly #byClient = new Map<string, number>()

  get bytes(): number {
    return this.#bytes
  }

  /** Takes `bytes` for a body, or returns whose budget is exhausted. @param isSmall whether the body is small so far */
  take(clientId: string, bytes: number, isSmall: boolean): BudgetScope | undefined {
    const ofClient = (this.#byClient.get(clientId) ?? 0) + bytes
    if (ofClient > BUDGET_BYTES_PER_CLIENT) return 'client'
    if (this.#bytes + bytes > BUDGET_BYTES + (isSmall ? BUDGET_BYTES_FOR_SMALL : 0)) return 'all'
    this.#byClient.set(clientId, ofClient)
    this.#bytes += bytes
    return undefined
  }

  release(clientId: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#byClient.get(clientId) ?? 0) - bytes
    if (left > 0) this.#byClient.set(clientId, left)
    else this.#byClient.delete(clientId)
  }
}
