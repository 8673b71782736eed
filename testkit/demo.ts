import type { ServerProcess } from './processes/server-process.ts'
import type { Session } from './processes/session.ts'
import { PROGRAM } from './repository.ts'

/** The command line of a demo without live traffic, on a folder. */
export const demoIn = (dataDir: string, days: number, port = 0): string[] =>
  `demo --port ${port} --days ${days} --no-simulate --data-dir`.split(' ').concat(dataDir)

/** The demo of a bench. */
export const startDemo = (session: Session, dataDir: string, days: number): Promise<ServerProcess> =>
  session.startServer('demo', (port) => ({
    args: [PROGRAM, ...demoIn(dataDir, days, port)],
    environment: { HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
  }))
