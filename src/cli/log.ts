import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../config.ts'

/** Lines of JSON for machines; on a terminal, the same for people. */
export function createLog(config: Config): Logger {
  const options = { level: config.logLevel, base: null }
  if (!process.stdout.isTTY) return pino(options)
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}
