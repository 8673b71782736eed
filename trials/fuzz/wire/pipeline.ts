import { connect, type Socket } from 'node:net'
import { type HttpAnswer, MalformedAnswer, takeAnswer } from './answers.ts'

/** A request with an unambiguous end, and what to do with its answer. */
export interface Shot {
  bytes: Buffer
  isHead: boolean
  onAnswer: (answer: HttpAnswer) => void
  /** The connection ended before its answer: it may have been carried out all the same. It is sent again. */
  onUncertain?: () => void
}

export interface PipelineOptions {
  port: number
  /** The next request to send, or null at the end. */
  next: () => Promise<Shot | null> | Shot | null
  /** What a request did that no request may: its answer is malformed, does not come, or the connection ends instead. */
  onFailure: (shot: Shot, why: string) => void
}

/** Requests sent at once on a connection. */
const WINDOW = 16
/** A probe may take a minute to run, and an answer waits for those before it. */
const ANSWER_TIMEOUT_MS = 120_000
/** Times that a request is sent on a connection of its own, when connections ended without a word. */
const MAX_TRIES = 3

/** One connection after the other, each kept alive, with a window of requests on it at a time. */
export async function runPipeline(options: PipelineOptions): Promise<void> {
  const waiting: Shot[] = []
  const tries = new Map<Shot, number>()
  let connection: Connection | null = null
  for (;;) {
    const size: number = tries.size > 0 ? 1 : WINDOW
    const window: Shot[] = waiting.splice(0, size)
    while (window.length < size) {
      const shot = await options.next()
      if (shot === null) break
      window.push(shot)
    }
    if (window.length === 0) break
    connection ??= await Connection.open(options.port)
    const outcome = await connection.send(window)
    for (const shot of window.slice(0, outcome.answered)) tries.delete(shot)
    if (outcome.isOpen) continue
    connection.destroy()
    connection = null
    const [suspect, ...rest] = window.slice(outcome.answered)
    if (suspect === undefined) continue
    for (const shot of [suspect, ...rest]) shot.onUncertain?.()
    const tried = (tries.get(suspect) ?? 0) + 1
    if (outcome.why === null) waiting.unshift(suspect, ...rest)
    else if (outcome.isCertain || tried >= MAX_TRIES) {
      options.onFailure(suspect, outcome.why)
      tries.delete(suspect)
      waiting.unshift(...rest)
    } else {
      tries.set(suspect, tried)
      waiting.unshift(suspect, ...rest)
    }
  }
  connection?.destroy()
}

interface WindowOutcome {
  answered: number
  /** Whether the connection takes more. */
  isOpen: boolean
  /** What was wrong; null for a connection that ended as announced. */
  why: string | null
  /** Whether it is the first unanswered request's doing, and not that of one behind it. */
  isCertain: boolean
}

class Connection {
  readonly #socket: Socket
  #isClosed = false
  #received = Buffer.alloc(0)
  #onChange: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
      this.#onChange()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isClosed = true
      this.#onChange()
    })
  }

  /** @throws Error when nothing listens. */
  static async open(port: number): Promise<Connection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.once('connect', resolve).once('error', reject)
    await promise
    return new Connection(socket)
  }

  destroy(): void {
    // A reset leaves no port in TIME_WAIT; thousands of closed connections a second would use all of them up.
    this.#socket.resetAndDestroy()
  }

  async send(window: readonly Shot[]): Promise<WindowOutcome> {
    this.#socket.write(Buffer.concat(window.map((shot) => shot.bytes)))
    let answered = 0
    const { promise, resolve } = Promise.withResolvers<WindowOutcome>()
    const end = (why: string | null, isCertain = true) => resolve({ answered, isOpen: false, why, isCertain })
    const timer = setTimeout(() => end('was not answered in two minutes'), ANSWER_TIMEOUT_MS)
    this.#onChange = () => {
      try {
        for (let shot = window[answered]; shot !== undefined; shot = window[answered]) {
          const parsed = takeAnswer(this.#received, shot.isHead, this.#isClosed)
          if (parsed === null) break
          this.#received = this.#received.subarray(parsed.end)
          answered++
          shot.onAnswer(parsed.answer)
          if (parsed.answer.isLast || parsed.answer.isEndless) {
            end(null)
            return
          }
        }
      } catch (thrown) {
        if (!(thrown instanceof MalformedAnswer)) throw thrown
        end(thrown.message)
        return
      }
      if (answered === window.length) {
        if (this.#received.length > 0) end('brought more answers than requests')
        else resolve({ answered, isOpen: !this.#isClosed, why: null, isCertain: false })
      } else if (this.#isClosed) end('ended the connection without an answer', window.length === 1)
    }
    this.#onChange()
    const outcome = await promise
    clearTimeout(timer)
    this.#onChange = () => undefined
    return outcome
  }
}
