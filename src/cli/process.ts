import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { asError } from '../lib/index.ts'

/** After this the process ends even if something does not close, ms. */
const STOP_DEADLINE_MS = 9_500
/** What shells report of a program that Ctrl-C ended: 128 and the signal's number. */
const INTERRUPTED = 130

/** SIGTERM and SIGINT stop in order and end the process with 0; a second SIGINT does not wait. */
export function stopOnSignals(stop: () => Promise<void>, log: Logger): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) {
      if (signal === 'SIGINT') process.exit(INTERRUPTED)
      return
    }
    isStopping = true
    log.info(`${signal}: answering what is in flight, then stopping`)
    setTimeout(() => {
      log.error('did not stop in time')
      process.exit(1)
    }, STOP_DEADLINE_MS).unref()
    stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        log.error({ err: asError(thrown) }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/** Lines of JSON for machines; on a terminal, the same for people. */
export async function createLog(config: Config): Promise<Logger> {
  const options = { level: config.logLevel, base: null }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}
