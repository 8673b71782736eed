import { ConfinedError, ConfinedThread } from '../../lib/index.ts'
import type { PageTasks } from './page-tasks.ts'

/** Tagwarden failed to read a page. That says nothing about whether the page works. */
export class PageReadError extends Error {
  constructor(why: string) {
    super(`Tagwarden gave up reading it: ${why}`)
    this.name = 'PageReadError'
  }
}

/** The longest real pages take 0.1 s; the rest is for busy machines and for our own mistakes. */
const READ_MS = 10_000
/** The largest pages take 40 MB. */
const HEAP_MB = 192

/** Reads pages and scripts of monitored sites in a thread, which is ended when one of them takes too much time or memory. */
export class PageReader {
  readonly #thread: ConfinedThread

  constructor(limits: { timeMs?: number; heapMb?: number } = {}) {
    const { timeMs = READ_MS, heapMb = HEAP_MB } = limits
    this.#thread = new ConfinedThread({ module: new URL('./page-tasks.ts', import.meta.url), timeMs, heapMb })
  }

  /** @throws PageReadError, or the reason that the signal was aborted with */
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

/** Reads pages in the calling thread: only for our own, which need no protection. */
export const pagesInThisThread: Pages = {
  async read<Name extends keyof PageTasks>(name: Name, input: Parameters<PageTasks[Name]>[0]) {
    const { tasks } = await import('./page-tasks.ts')
    const read = tasks[name] as (given: typeof input) => ReturnType<PageTasks[Name]>
    return read(input)
  },
}
