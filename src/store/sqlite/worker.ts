import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { asError, lowerPriority, REPORTS_NICENESS } from '../../lib/index.ts'
import { SqliteConnection } from './connection.ts'
import type { ThreadOptions, ThreadRequest, ThreadResponse } from './protocol.ts'
import { errorKindOf } from './protocol.ts'

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
  port.on('message', ({ id, request }: { id: number; request: ThreadRequest }) => {
    answer(id, () => ({ answer: opened.answer(request) }))
  })
}

const { mode } = workerData as ThreadOptions
// Reports give way to ingest where both share a processor.
if (mode === 'reader') lowerPriority(REPORTS_NICENESS)

if (parentPort !== null) serve(parentPort, workerData as ThreadOptions)
