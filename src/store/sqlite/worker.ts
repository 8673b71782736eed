import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { asError, lowerPriority, REPORTS_NICENESS } from '../../lib/index.ts'
import { SqliteConnection } from './connection.ts'
import type { PackedAnswer, ThreadMessage, ThreadOptions, ThreadResponse } from './protocol.ts'
import { errorKindOf, NOTHING_PACKED } from './protocol.ts'

/**
 * Rows per message to the main thread, which reads a message in one go: ten rows of twenty columns take about 20 µs. The 11,000
 * rows of a report on a site with many names blocked all requests for 20 to 35 ms.
 */
const ROWS_PER_PART = 500

/** Entry point of a connection thread: opens one connection and answers the main thread's requests in turn. */
function serve(port: MessagePort, options: ThreadOptions): void {
  const answer = (id: number, work: () => Omit<Extract<ThreadResponse, { ok: true }>, 'id' | 'ok'>): void => {
    let response: ThreadResponse
    try {
      response = { id, ok: true, ...work() }
    } catch (thrown) {
      response = { id, ok: false, errorKind: errorKindOf(thrown), message: asError(thrown).message }
    }
    port.postMessage(response)
  }

  let connection: SqliteConnection | undefined
  answer(0, () => {
    connection = new SqliteConnection(options)
    return {}
  })
  if (connection === undefined) return
  const opened = connection
  /** The unsent part of each answer, by request id. */
  const rests = new Map<number, { answer: PackedAnswer; sent: number }>()
  const restOf = (id: number): PackedAnswer => {
    const rest = rests.get(id)
    if (rest === undefined) return NOTHING_PACKED
    const { answer: whole, sent } = rest
    rest.sent += ROWS_PER_PART
    if (rest.sent < whole.rows.length) return { ...whole, rows: whole.rows.slice(sent, rest.sent), isPart: true }
    rests.delete(id)
    return { ...whole, rows: whole.rows.slice(sent) }
  }
  port.on('message', ({ id, request }: ThreadMessage) => {
    answer(id, () => {
      if (request !== 'rest') {
        const whole = opened.answer(request)
        if (whole.rows.length <= ROWS_PER_PART) return { answer: whole }
        rests.set(id, { answer: whole, sent: 0 })
      }
      return { answer: restOf(id) }
    })
  })
}

const { givesWay } = workerData as ThreadOptions
// Reports give way to ingest where both share a core.
if (givesWay === true) lowerPriority(REPORTS_NICENESS)

if (parentPort !== null) serve(parentPort, workerData as ThreadOptions)
