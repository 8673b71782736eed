import type { SharedThread } from './dialect.ts'
import type { Connection } from './protocol.ts'

/** Growth of the write-ahead log in a second from which a thread of its own moves it, in pages of 4 KiB. */
const BUSY_PAGES = 200
/** Length from which a log that grows more slowly is moved. An idle service adds a page every two seconds. */
const QUIET_LOG_PAGES = 1_000
/** Length from which the writer helps the thread to restart the log. */
const RESTART_LOG_PAGES = 2_000

/**
 * Moves the write-ahead log into the database. On a quiet service the writer does so, now and then: a thread would take 11 MB, and
 * moving a few pages each second syncs two files each time. Under load a thread does nearly all of it beside the commits.
 */
export class Checkpoints {
  readonly #writer: SharedThread
  readonly #helper: Connection
  #isBusy = false
  /** Of the log a second ago, while the service is quiet; undefined at first, because what a start writes says nothing. */
  #length: number | undefined

  /** @param helper the thread's connection, which opens with its first request */
  constructor(writer: SharedThread, helper: Connection) {
    this.#writer = writer
    this.#helper = helper
  }

  /** To be called each second. */
  async tick(): Promise<void> {
    if (!this.#isBusy) {
      // SQLite before 3.51 does not know NOOP and moves the log at once, which is more often than needed.
      const length = await this.#byWriter('noop')
      this.#isBusy = length - (this.#length ?? length) >= BUSY_PAGES
      this.#length = length
    }
    if (this.#isBusy) await this.#besideCommits()
    else if ((this.#length ?? 0) >= QUIET_LOG_PAGES) await this.#byWriter('passive')
  }

  /**
   * Under constant load there is always a frame that the thread has not seen, and the log would grow for ever. So the writer moves
   * the last few itself, and its next commit starts the log from the beginning. Overwriting the log also makes syncing it cheaper
   * than extending it, because the file system has no new length to record. Nor does the log grow while the thread cannot be opened.
   */
  async #besideCommits(): Promise<void> {
    let length = RESTART_LOG_PAGES
    try {
      length = await lengthAfter(this.#helper, 'passive')
    } finally {
      if (length >= RESTART_LOG_PAGES) await this.#byWriter('passive')
    }
  }

  #byWriter(mode: Mode): Promise<number> {
    return this.#writer.turn.run(() => lengthAfter(this.#writer.thread, mode))
  }
}

/** PASSIVE never waits for a reader or the writer: what it cannot move now, it moves next time. NOOP moves nothing. */
type Mode = 'passive' | 'noop'

/** @returns the log's length in pages, moved or not */
async function lengthAfter(connection: Connection, mode: Mode): Promise<number> {
  const { rows } = await connection.request({
    kind: 'query',
    sql: `pragma wal_checkpoint(${mode})`,
    parameters: [],
  })
  return Number(rows[0]?.log ?? 0)
}
