import { ConfinedError, ConfinedThread } from '../../lib/index.ts'
import type { PageTasks } from './page-tasks.ts'

/** A page that could not be read here, whatever is in it: a matter of this program, not of the page's working. */
export class PageReadError extends Error {
  constructor(why: string) {
    super(`Tagwarden gave up reading it: ${why}`)
    this.name = 'PageReadError'
  }
}

/** The longest real pages take a tenth of a second; this is for a machine that is busy, and for mistakes of ours. */
const READ_MS = 10_000
/** The largest take 40 MB. */
const HEAP_MB = 192

/** Reads pages and scripts of monitored sites in a thread of its own, which is given up when one of them takes too much. */
export class PageReader {
  readonly #thread: ConfinedThread

  constructor(limits: { timeMs?: number; heapMb?: number } = {}) {
    const { timeMs = READ_MS, heapMb = HEAP_MB } = limits
    this.#thread = new ConfinedThread({ module: new URL('./page-tasks.ts', import.meta.url), timeMs, heapMb })
  }

  /** @throws PageReadError, or what the signal was aborted with */
  async read<Name extends keyof PageTasks>(
    name: Name,
    input: Parameters<PageTasks[Name]>[0],
    signal?: AbortSignal,
  ): Promise<ReturnType<PageTasks[Name]>> {
    const transfer = [input.body.bytes.buffer]
    try {
      const options = signal === undefined ? { transfer } : { signal, transfer }
      return (await this.#thread.run(name, input, options)) as ReturnType<PageTasks[Name]>
    } catch (thrown) {
      if (thrown instanceof ConfinedError) throw new PageReadError(thrown.message)
      throw thrown
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

export type Pages = Pick<PageReader, 'read'>

/** Reads them where it is called: pages that are ours, which a thread need not be given up for. */
export const pagesInThisThread: Pages = {
  async read<Name extends keyof PageTasks>(name: Name, input: Parameters<PageTasks[Name]>[0]) {
    const { tasks } = await import('./page-tasks.ts')
    const read = tasks[name] as (given: typeof input) => ReturnType<PageTasks[Name]>
    return read(input)
  },
}
