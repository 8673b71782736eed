import { join } from 'node:path'
import type { Session } from '../../../testkit/processes/session.ts'
import type { Remote } from '../../../testkit/processes/worker-calls.ts'
import type { LoadCalls } from './worker.ts'

/** The load generator, in a process of its own on the clients' core. */
export type Generator = Remote<LoadCalls>

export const startGenerator = (session: Session): Generator =>
  session.startWorker<LoadCalls>('load', join(import.meta.dirname, 'worker.ts'))
