import { stat } from 'node:fs/promises'
import { StoreError } from '../store.ts'
import type { Connection } from './protocol.ts'

/**
 * Refuses to write while the database file is not where it was opened: removed, moved or replaced by hand. SQLite continues with
 * the file that it has open, so everything acknowledged meanwhile would be lost when the process ends. Once the file is put back,
 * writing continues.
 */
export class FileInPlace {
  readonly #path: string
  readonly #opened: string | null
  #isInPlace = true

  private constructor(path: string, opened: string | null) {
    this.#path = path
    this.#opened = opened
  }

  /** For a file that was just opened. */
  static async of(path: string): Promise<FileInPlace> {
    return new FileInPlace(path, await identityOf(path))
  }

  async look(): Promise<void> {
    const found = await identityOf(this.#path)
    // A file that cannot be inspected may still be in its place.
    if (found !== null) this.#isInPlace = found === this.#opened
  }

  /** Wraps a connection so that it only rolls back and closes while the file is not in its place. */
  guard(connection: Connection): Connection {
    return {
      request: async (request) => {
        if (this.#isInPlace || request.kind === 'rollback') return connection.request(request)
        const text = `${this.#path} was removed or replaced while Tagwarden runs: put it back, or restart`
        throw new StoreError('unavailable', text)
      },
      close: () => connection.close(),
    }
  }
}

/** Identifies the file at the path; null when that cannot be determined. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true })
    return `${dev} ${ino}`
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT' ? 'none' : null
  }
}
