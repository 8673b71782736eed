import { join } from 'node:path'
import type { Session } from '../../../testkit/processes/session.ts'
import type { Remote } from '../../../testkit/processes/worker-calls.ts'
import type { EnvironmentCalls } from './worker.ts'

/** All that surrounds the service but the load, in a process of its own on the clients' core. */
export type SoakEnvironment = Remote<EnvironmentCalls>

export const startEnvironment = (session: Session): SoakEnvironment =>
  session.startWorker<EnvironmentCalls>('environment', join(import.meta.dirname, 'worker.ts'))
