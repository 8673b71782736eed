import { join } from 'node:path'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import type { Session } from '../../testkit/processes/session.ts'

const BASELINE = join(import.meta.dirname, '../baseline')

/** The bare `node:http` + `JSON.parse` server. */
export const startBare = (session: Session): Promise<ServerProcess> =>
  session.startServer('bare', (port) => ({ args: [join(BASELINE, 'server.ts'), String(port)] }))

/** The server that answers without looking. */
export const startAnswerer = (session: Session): Promise<ServerProcess> =>
  session.startServer('answerer', (port) => ({ args: [join(BASELINE, 'answerer.ts'), String(port)] }))
