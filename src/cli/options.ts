import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { InvalidArgumentError } from 'commander'
import { type Config, type Environment, readConfig } from '../config.ts'
import { asError, StartupError } from '../lib/index.ts'

/** Parsers of option values; what they refuse becomes one line for the operator and exit code 1. */

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
    return value
  }

export function httpUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give an address that begins with https:// or http://.')
  }
  return text
}

/** Collects the values of an option that takes several; the first replaces the default. */
export const httpUrls = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  httpUrl(text),
]

export function headerName(text: string): string {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) throw new InvalidArgumentError('Give the name of an HTTP header.')
  return text
}

export function timezone(text: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    throw new InvalidArgumentError('Give a time zone like Europe/Berlin.')
  }
  return text
}

/**
 * Reads the configuration from the environment and, for what is not set there, from `.env` in the working folder.
 *
 * @param options settings from the command line; they win
 * @throws StartupError naming the variable, its value and what is allowed, or the file that cannot be read
 */
export function configFromEnvironment(options: Environment = {}): Config {
  if (existsSync(ENV_FILE)) loadEnvFile()
  return readConfig({ ...process.env, ...options })
}

const ENV_FILE = '.env'

/**
 * Without the byte order mark that programs on Windows begin a file with, which would be part of the first name. Redirected output of
 * Windows PowerShell is UTF-16, of which no setting would be recognised.
 */
export const envText = (bytes: Buffer): string =>
  new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)

/** @throws StartupError, because without the file another service would start: another address and database, and no token */
function loadEnvFile(): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(envText(readFileSync(ENV_FILE))))) {
      process.env[name] ??= value
    }
  } catch (thrown) {
    throw new StartupError(
      `the settings in ${ENV_FILE} cannot be read (${asError(thrown).message}): let this user read it, or start from another folder`,
    )
  }
}

/** Whether this runs from a checkout: the npm package and the image have no sources. */
export const HAS_SOURCES = existsSync(join(import.meta.dirname, 'options.ts'))

/** The text with its commands as they are typed here: the npm scripts exist only in a checkout. */
export const asTyped = (text: string): string =>
  HAS_SOURCES
    ? text
    : text.replaceAll(/npm run (?:-s )?tagwarden --/g, 'tagwarden').replaceAll('npm start', 'tagwarden serve')

/** Where the data lives, for people, without the user and password of a database address. */
export const storeName = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl === null ? `DATA_DIR ${dataDir}` : postgresName(databaseUrl)

/** `PostgreSQL at host:port/database`, from an address that the engine has accepted. */
export function postgresName(url: string): string {
  const [address = ''] = url.replace(/^\w+:\/\//, '').split(/[?#]/)
  return `PostgreSQL at ${address.slice(address.lastIndexOf('@') + 1)}`
}
