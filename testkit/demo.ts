import type { ServerProcess } from './processes/server-process.ts'
import type { Session } from './processes/session.ts'
import { PROGRAM } from './repository.ts'

/** The demo of a bench, without live traffic. */
export const startDemo = (session: Session, dataDir: string, days: number): Promise<ServerProcess> =>
  session.startServer('demo', (port) => ({
    args: [PROGRAM, ...`demo --port ${port} --days ${days} --no-simulate --data-dir`.split(' '), dataDir],
    environment: { HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
  }))
