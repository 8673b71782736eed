import pg from 'pg'
import { asError, StartupError } from '../../lib/index.ts'

/** One of a database's addresses. A new object means that connections made to the former one are no longer trusted. */
export interface Endpoint {
  readonly url: string
}

/**
 * The addresses of one database and which of them to use now. Pools of the same database share it, so that all know what one
 * finds out. A connection that was not made to `current` is not to be trusted.
 */
export class Rotation {
  readonly #urls: readonly string[]
  #index = 0
  #current: Endpoint
  #refusesWrites = false

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

  /** The address cannot be reached or accepts no writes: move to the next, unless another pool already has. */
  failed(endpoint: Endpoint): void {
    if (endpoint !== this.#current || this.#urls.length === 1) return
    this.#index = (this.#index + 1) % this.#urls.length
    this.#current = this.#endpoint()
  }

  /** A connection to it broke: earlier ones are probably dead too. */
  broke(endpoint: Endpoint): void {
    if (endpoint === this.#current) this.#current = this.#endpoint()
  }

  /**
   * It refused a write. If it is the only address, its other connections can still read: dropping them with each failed write
   * would leave reports no time to connect.
   */
  refusedWrite(endpoint: Endpoint): void {
    if (this.#urls.length > 1) this.broke(endpoint)
    else this.#refusesWrites = true
  }

  /**
   * A new session may write. After a refusal there may be another server behind the address, and earlier connections lead to the
   * old one.
   */
  takesWrites(): void {
    if (!this.#refusesWrites) return
    this.#refusesWrites = false
    this.#current = this.#endpoint()
  }

  #endpoint(): Endpoint {
    return { url: this.#urls[this.#index] ?? '' }
  }
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(:\d{1,5})?$/i

/**
 * Splits `postgres://user:password@first:5432,second:5432/database` into one address per host. Several hosts, one of which
 * accepts writes at a time, are written as for libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS); the driver supports only one.
 *
 * @param name the setting that the address comes from
 * @throws StartupError, which repeats nothing of the address: what looks like a host may be part of a password
 */
export function hostUrls(name: string, url: string): string[] {
  const [, head, hosts, tail] = PARTS.exec(url) ?? []
  if (head === undefined || hosts === undefined || tail === undefined) {
    throw invalid(name, 'it must be an address like postgres://user:password@host:5432/database')
  }
  return hosts.split(',').map((host, index, { length }) => {
    if (!HOST.test(host) || (host === '' && length > 1)) {
      throw invalid(
        name,
        `${length > 1 ? `number ${index + 1} of its hosts` : 'its host'} is not a host or host:port ` +
          '(in user and password @ : / ? # are written as %40 %3A %2F %3F %23)',
      )
    }
    return usable(name, `${head}${host}${tail}`)
  })
}

function usable(name: string, url: string): string {
  try {
    // Does not connect, but checks escapes, the port and certificates that the address names.
    new pg.Client({ connectionString: url })
    return url
  } catch (thrown) {
    throw invalid(name, asError(thrown).message)
  }
}

const invalid = (name: string, why: string): StartupError => new StartupError(`${name} is not valid: ${why}`)
