import { StoreError } from '../store.ts'
import type { Connection, QueryAnswer, ThreadRequest } from './protocol.ts'

/**
 * A connection that opens with its first request. A thread costs 10 MB and 50 ms of processor time, and few services ever run
 * more than two reports at once: further readers are for the rare moment.
 */
export class LateConnection implements Connection {
  readonly #open: () => Promise<Connection>
  #opened: Promise<Connection> | undefined
  #isClosed = false

  constructor(open: () => Promise<Connection>) {
    this.#open = open
  }

  get isUnopened(): boolean {
    return this.#opened === undefined
  }

  async request(request: ThreadRequest): Promise<QueryAnswer> {
    if (this.#isClosed) throw new StoreError('closed', 'the database is closed')
    const connection = await this.#connection()
    return connection.request(request)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // A connection that failed to open needs no closing, and its caller has the error.
    const connection = await this.#opened?.catch(() => undefined)
    await connection?.close()
  }

  /** Retries with the next request after a failure: most likely the machine was briefly short of threads or files. */
  async #connection(): Promise<Connection> {
    this.#opened ??= this.#open()
    try {
      return await this.#opened
    } catch (thrown) {
      this.#opened = undefined
      throw thrown
    }
  }
}
