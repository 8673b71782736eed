import { Worker } from 'node:worker_threads'
import { MINUTE } from './clock.ts'
import { asError } from './errors.ts'
import { unlessAborted } from './promises.ts'

/** Why a task failed: it took more time or memory than allowed, or it threw. */
export type ConfinedErrorKind = 'time' | 'memory' | 'failed'

/** The error of a failed task. Its message is a sentence for people. */
export class ConfinedError extends Error {
  readonly kind: ConfinedErrorKind

  constructor(kind: ConfinedErrorKind, message: string) {
    super(message)
    this.name = 'ConfinedError'
    this.kind = kind
  }
}

interface ConfinedOptions {
  /** The module whose `tasks` are run. */
  module: URL
  /** Longest time for one task, ms, once its thread has started. */
  timeMs: number
  /** Largest heap of a task, MB. */
  heapMb: number
}

interface Task {
  order: ConfinedOrder
  transfer: readonly ArrayBuffer[]
  settle: (end: ConfinedError | null, value?: unknown) => void
}

/** Size of the young generation, in addition to `heapMb`. */
const YOUNG_GENERATION_MB = 16
/** Longest time for starting a thread. It loads its modules in half a second, but took over 30 s on a machine short of cores. */
const START_MS = 5 * MINUTE

/**
 * Runs tasks on untrusted input, in a thread that can be terminated: neither an endless loop nor a full heap affects anything
 * else. It runs one task at a time, so that a failure is that task's fault alone; the others then wait for a new thread. The
 * thread starts with the first task, and does not keep the process from exiting.
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
   * @param input anything that `structuredClone` accepts
   * @param transfer buffers in it to hand over instead of copying; they are empty here afterwards
   * @throws ConfinedError, or the signal's reason: a waiting task is then dropped, a running one not waited for
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

  /** Fails the running task and all waiting ones. */
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
      // The order cannot be sent to a thread, so the thread has not seen it.
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

  /** The thread's task has failed; the next task starts another thread. */
  #end(worker: Worker, error: ConfinedError): void {
    if (worker !== this.#worker) return
    const isStarting = !this.#isReady
    this.#lose(error)
    // Otherwise a thread that cannot start would be restarted for ever.
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

/** The data that the thread starts with. */
export interface ConfinedSettings {
  /** URL of the module that exports `tasks`. */
  module: string
}

/** What a module has to export as `tasks`: functions from one value to another, both of which can be sent between threads. */
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
