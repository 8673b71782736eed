import { Worker } from 'node:worker_threads'
import { StoreError } from '../store.ts'
import {
  type Connection,
  NO_ANSWER,
  type QueryAnswer,
  type ThreadMessage,
  type ThreadOptions,
  type ThreadRequest,
  type ThreadResponse,
  unpack,
} from './protocol.ts'

interface PendingQuery {
  /** Rows of the parts received so far. */
  rows?: QueryAnswer['rows']
  resolve: (answer: QueryAnswer) => void
  reject: (error: Error) => void
}

/** Rows only pass through a thread: V8's default would let each thread's young generation grow to 48 MB. */
const YOUNG_GENERATION_MB = 8

const ENTRY = new URL('./worker.ts', import.meta.url)

/** The main thread's end of a database connection. The connection is in its own thread, so that no SQL runs here. */
export class ConnectionThread implements Connection {
  readonly #worker: Worker
  readonly #pending = new Map<number, PendingQuery>()
  #lastId = 0
  readonly #onDeath: (error: Error) => void
  #ended: StoreError | undefined
  #isOpen = false
  #isClosing = false

  private constructor(worker: Worker, onDeath: (error: Error) => void) {
    this.#worker = worker
    this.#onDeath = onDeath
    worker.on('message', (response: ThreadResponse) => this.#settle(response))
    worker.on('error', (error) => this.#end(`the database thread failed: ${error.message}`))
    worker.on('exit', (code) =>
      this.#end(this.#isClosing ? 'the database is closed' : `the database thread ended with code ${code}`),
    )
  }

  /**
   * @param onDeath called when the thread ends without `close`: pending queries have failed, and the store no longer works
   * @throws StoreError when the database cannot be opened (`busy`: another process has it)
   */
  static async open(
    options: ThreadOptions,
    onDeath: (error: Error) => void = () => undefined,
    entry = ENTRY,
  ): Promise<ConnectionThread> {
    // `execArgv` is empty so that flags of the main program (a debugger's port, a test runner's) do not reach the thread.
    const worker = new Worker(entry, {
      workerData: options,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    const thread = new ConnectionThread(worker, onDeath)
    const opened = Promise.withResolvers<QueryAnswer>()
    thread.#pending.set(0, opened) // the thread answers as request 0 when it has opened the file
    await opened.promise
    thread.#isOpen = true
    return thread
  }

  request(request: ThreadRequest): Promise<QueryAnswer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const { promise, resolve, reject } = Promise.withResolvers<QueryAnswer>()
    const id = ++this.#lastId
    this.#pending.set(id, { resolve, reject })
    this.#send({ id, request })
    return promise
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#ended === undefined) await this.request({ kind: 'close' })
    await this.#worker.terminate()
  }

  #send(message: ThreadMessage): void {
    this.#worker.postMessage(message)
  }

  #settle(response: ThreadResponse): void {
    const { id } = response
    const pending = this.#pending.get(id)
    if (!response.ok) {
      this.#pending.delete(id)
      pending?.reject(new StoreError(response.errorKind, response.message))
      return
    }
    const { answer } = response
    const { rows, changes } = answer === undefined ? NO_ANSWER : unpack(answer)
    const all = joined(pending?.rows, rows)
    if (pending !== undefined && answer?.isPart === true) {
      pending.rows = all
      this.#send({ id, request: 'rest' })
      return
    }
    this.#pending.delete(id)
    pending?.resolve({ rows: all, changes })
  }

  #end(reason: string): void {
    const isFirst = this.#ended === undefined
    this.#ended ??= new StoreError('closed', reason)
    for (const pending of this.#pending.values()) pending.reject(this.#ended)
    this.#pending.clear()
    if (isFirst && this.#isOpen && !this.#isClosing) this.#onDeath(this.#ended)
  }
}

function joined(rows: QueryAnswer['rows'] | undefined, more: QueryAnswer['rows']): QueryAnswer['rows'] {
  if (rows === undefined) return more
  for (const row of more) rows.push(row)
  return rows
}
