import { Command } from 'commander'
import type { Logger } from 'pino'
import { asError, systemClock } from '../lib/index.ts'
import { type Service, startService } from '../main.ts'
import { VERSION } from '../version.ts'
import { configFromEnvironment } from './environment.ts'
import { createLog } from './log.ts'

/** After this the process ends even if something does not close, ms. */
const STOP_DEADLINE_MS = 9_500

export function serveCommand(): Command {
  return new Command('serve').description('run the service: migrate, listen, print the address').action(async () => {
    const config = configFromEnvironment()
    const log = createLog(config)
    const service = await startService({ config, clock: systemClock, log })
    stopOnSignals(service, log)
    log.info({ version: VERSION, dataDir: config.dataDir }, `Tagwarden is ready on ${service.address}`)
  })
}

/** SIGTERM and SIGINT stop in order; a second SIGINT does not wait. */
export function stopOnSignals(service: Service, log: Logger): void {
  let isStopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) {
      if (signal === 'SIGINT') process.exit(130)
      return
    }
    isStopping = true
    log.info(`${signal}: answering what is in flight, then stopping`)
    setTimeout(() => {
      log.error('did not stop in time')
      process.exit(1)
    }, STOP_DEADLINE_MS).unref()
    service.stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        log.error({ err: asError(thrown) }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
