/** Bytes of requests under way at once, over all clients and of one client. */
export const ROOM_BYTES = 67_108_864
export const ROOM_BYTES_PER_CLIENT = 16_777_216
/** What comes on top for small bodies: those who send large ones must not keep everybody else out. */
export const ROOM_BYTES_FOR_SMALL = 16_777_216

/** Who has no more room: this client, or nobody. */
export type Full = 'client' | 'all'

/**
 * How many bytes of requests are under way: from the first byte of a body until its answer. They are bounded and not the
 * requests, because what a request holds in memory is up to its sender: its text, and several times as much once it is parsed.
 */
export class Room {
  #bytes = 0
  readonly #byClient = new Map<string, number>()

  get bytes(): number {
    return this.#bytes
  }

  /** Takes room for `bytes` of a body that is small so far, or not, or says who has none left. */
  take(clientId: string, bytes: number, isSmall: boolean): Full | undefined {
    const ofClient = (this.#byClient.get(clientId) ?? 0) + bytes
    if (ofClient > ROOM_BYTES_PER_CLIENT) return 'client'
    if (this.#bytes + bytes > ROOM_BYTES + (isSmall ? ROOM_BYTES_FOR_SMALL : 0)) return 'all'
    this.#byClient.set(clientId, ofClient)
    this.#bytes += bytes
    return undefined
  }

  give(clientId: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#byClient.get(clientId) ?? 0) - bytes
    if (left > 0) this.#byClient.set(clientId, left)
    else this.#byClient.delete(clientId)
  }
}
