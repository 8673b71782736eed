import { Worker } from 'node:worker_threads'
import { MINUTE } from './clock.ts'
import { asError } from './errors.ts'
import { unlessAborted } from './promises.ts'

/** Why a task came to nothing: it took more time or memory than it may, or it threw. */
export type ConfinedErrorKind = 'time' | 'memory' | 'failed'

/** A task that came to nothing. The message is a sentence for people. */
export class ConfinedError extends Error {
  readonly kind: ConfinedErrorKind

  constructor(kind: ConfinedErrorKind, message: string) {
    super(message)
    this.name = 'ConfinedError'
    this.kind = kind
  }
}

interface ConfinedOptions {
  /** Of the module whose `tasks` are done. */
  module: URL
  /** What one task may take, once its thread has started. */
  timeMs: number
  /** What a task may hold in the heap, MB. */
  heapMb: number
}

interface Task {
  order: ConfinedOrder
  transfer: readonly ArrayBuffer[]
  settle: (end: ConfinedError | null, value?: unknown) => void
}

/** New objects; they count beside `heapMb`. */
const YOUNG_GENERATION_MB = 16
/** A thread that is starting reads its modules: half a second, which on a machine where everyone waits for a core took over 30 s. */
const START_MS = 5 * MINUTE

/**
 * Runs tasks on untrusted input, in a thread that can be terminated: neither an endless loop nor a full heap affects anything
 * else. One task at a time, so that a failure is the fault of that task alone; the others wait for the next thread. The thread
 * starts with the first task, and does not keep the process from ending.
 */
export class ConfinedThread {
  readonly #options: ConfinedOptions
  readonly #queue: Task[] = []
  #running: Task | null = null
  #worker: Worker | null = null
  #isReady = false
  #timer: NodeJS.Timeout | undefined
  #lastId = 0
  #isClosed = false

  constructor(options: ConfinedOptions) {
    this.#options = options
  }

  /**
   * @param input what `structuredClone` takes
   * @param transfer buffers in it that are handed over instead of copied; they are empty here afterwards
   * @throws ConfinedError, or what the signal was aborted with: a task that waits is then dropped, one that runs is not waited for
   */
  async run(
    task: string,
    input: unknown,
    { signal, transfer = [] }: { signal?: AbortSignal; transfer?: readonly ArrayBuffer[] } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new ConfinedError('failed', 'the service stops')
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const settle: Task['settle'] = (end, value) => (end === null ? resolve(value) : reject(end))
    const mine: Task = { order: { id: ++this.#lastId, task, input }, transfer, settle }
    this.#queue.push(mine)
    this.#next()
    if (signal === undefined) return promise
    try {
      return await unlessAborted(signal, promise)
    } finally {
      const at = this.#queue.indexOf(mine)
      if (at !== -1) this.#queue.splice(at, 1)
    }
  }

  /** What is under way comes to nothing. */
  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    const error = new ConfinedError('failed', 'the service stops')
    for (const { settle } of this.#queue.splice(0)) settle(error)
    this.#lose(error)
    await worker?.terminate()
  }

  #next(): void {
    if (this.#running !== null || this.#queue.length === 0) return
    const worker = this.#started()
    if (!this.#isReady) return
    const task = this.#queue.shift()
    if (task === undefined) return
    this.#running = task
    this.#limit(worker, this.#options.timeMs)
    worker.ref()
    try {
      worker.postMessage(task.order, [...task.transfer])
    } catch (thrown) {
      // What cannot cross threads; the thread has not seen it.
      this.#running = null
      clearTimeout(this.#timer)
      task.settle(new ConfinedError('failed', asError(thrown).message))
      this.#next()
    }
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const workerData: ConfinedSettings = { module: this.#options.module.href }
    // `execArgv` is empty so that flags of the main program (a debugger's port, a test runner's) do not reach the thread.
    const worker = new Worker(new URL('./confined-worker.ts', import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: this.#options.heapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    })
    this.#worker = worker
    this.#isReady = false
    this.#limit(worker, START_MS)
    worker.on('message', (reply: ConfinedReply) => this.#onReply(worker, reply))
    worker.on('error', (error) => this.#end(worker, endOf(error, this.#options.heapMb)))
    worker.on('exit', () => this.#end(worker, new ConfinedError('failed', 'the thread ended')))
    return worker
  }

  #onReply(worker: Worker, reply: ConfinedReply): void {
    if (worker !== this.#worker) return
    clearTimeout(this.#timer)
    if (reply.kind === 'ready') this.#isReady = true
    else {
      const task = this.#running
      this.#running = null
      if (reply.kind === 'done') task?.settle(null, reply.value)
      else task?.settle(new ConfinedError('failed', reply.message))
    }
    if (this.#queue.length === 0) worker.unref()
    this.#next()
  }

  #limit(worker: Worker, ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#end(worker, new ConfinedError('time', `it takes more than ${ms / 1_000} s`))
      void worker.terminate()
    }, ms)
  }

  /** The task of the thread has come to nothing; the next task starts another thread. */
  #end(worker: Worker, error: ConfinedError): void {
    if (worker !== this.#worker) return
    const isStarting = !this.#isReady
    this.#lose(error)
    // A thread that cannot start would be started for ever.
    if (isStarting) for (const { settle } of this.#queue.splice(0)) settle(error)
    this.#next()
  }

  #lose(error: ConfinedError): void {
    clearTimeout(this.#timer)
    this.#worker = null
    this.#isReady = false
    const task = this.#running
    this.#running = null
    task?.settle(error)
  }
}

function endOf(error: Error & { code?: unknown }, heapMb: number): ConfinedError {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ConfinedError('memory', `it takes more than ${heapMb} MB of memory`)
    : new ConfinedError('failed', error.message)
}

/** What the thread is started with. */
export interface ConfinedSettings {
  /** Address of the module that exports `tasks`. */
  module: string
}

/** What a module must export as `tasks`: functions of one value that can cross threads to another. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>

export interface ConfinedOrder {
  id: number
  task: string
  input: unknown
}

export type ConfinedReply =
  | { kind: 'ready' }
  | { kind: 'done'; id: number; value: unknown }
  | { kind: 'failed'; id: number; message: string }
