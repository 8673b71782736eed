import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { asError } from '../lib/index.ts'

/** Time after which the process ends even if something does not close, ms. */
const STOP_DEADLINE_MS = 9_500
/** The exit code that shells report after Ctrl-C: 128 plus the signal's number. */
const INTERRUPTED = 130

/** On SIGTERM or SIGINT, calls `stop` and then exits with 0; a second SIGINT exits at once. */
export function stopOnSignals(stop: () => Promise<void>, log: Logger): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) {
      if (signal === 'SIGINT') process.exit(INTERRUPTED)
      return
    }
    isStopping = true
    log.info(`${signal}: answering requests in progress, then stopping`)
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

/** Characters of log lines kept in memory until they can be written; later ones are lost. */
const KEPT_LOG = 1_048_576

/** A logger that writes JSON lines, or readable text on a terminal. */
export async function createLog(config: Config): Promise<Logger> {
  const options = { level: config.logLevel, base: null }
  if (!process.stdout.isTTY) return pino(options, standardOutput())
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}

/**
 * Standard output, which may be a file on a full disk. That must cost log lines, not the service: without an `error` listener the
 * error would end the process, and pino's `flushSync` on exit would retry the write forever.
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
  // Pino flushes when the process exits: skip it while writes fail, or the process would never end.
  output.flushSync = () => {
    if (!isFailing) flush()
  }
  return output
}
