/** One of a database's addresses, as of the time since which nothing spoke against it. */
export interface Endpoint {
  readonly url: string
}

/**
 * The addresses of one database, and which of them to use now. Pools on the same database share it, so that all know what one
 * finds out: a connection that was not made to the current endpoint is not to be trusted.
 */
export class Rotation {
  readonly #urls: readonly string[]
  #index = 0
  #current: Endpoint

  /** @param urls one or more */
  constructor(urls: readonly string[]) {
    this.#urls = urls
    this.#current = this.#endpoint()
  }

  get current(): Endpoint {
    return this.#current
  }

  get length(): number {
    return this.#urls.length
  }

  /** The address cannot be reached or takes no writes: moves on to the next, unless another pool has done so already. */
  failed(endpoint: Endpoint): void {
    if (endpoint !== this.#current || this.#urls.length === 1) return
    this.#index = (this.#index + 1) % this.#urls.length
    this.#current = this.#endpoint()
  }

  /** A connection to it broke: the others made before are likely to be dead, too. */
  broke(endpoint: Endpoint): void {
    if (endpoint === this.#current) this.#current = this.#endpoint()
  }

  #endpoint(): Endpoint {
    return { url: this.#urls[this.#index] ?? '' }
  }
}
