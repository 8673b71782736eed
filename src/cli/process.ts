import { type DestinationStream, type Logger, pino } from 'pino'
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

/** Lines that could not be written yet are kept up to this, characters; what comes then is lost. */
const KEPT_LOG = 1_048_576

/** Lines of JSON for machines; on a terminal, the same for people. */
export async function createLog(config: Config): Promise<Logger> {
  const options = { level: config.logLevel, base: null }
  if (!process.stdout.isTTY) return pino(options, standardOutput())
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}

/**
 * Standard output, which may be a file on a disk that is full. That costs lines of the log, and not the service: the library's own
 * stream lets the process end because of such an error, and before the end tries to write for ever, while nothing else runs.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, maxLength: KEPT_LOG })
  let isFailing = false
  output.on('error', () => {
    isFailing = true
  })
  output.on('write', () => {
    isFailing = false
  })
  const flush = output.flushSync.bind(output)
  // Called when the process ends: only there a line that cannot be written would keep it.
  output.flushSync = () => {
    if (!isFailing) flush()
  }
  return output
}
