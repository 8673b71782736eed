import { existsSync } from 'node:fs'
import { type Config, type Environment, readConfig } from '../config.ts'

/**
 * The configuration from the environment and, for what is not set there, from `.env` in the working folder.
 *
 * @param options settings that the command line gave; they win
 * @throws StartupError naming the variable, its value and what is allowed
 */
export function configFromEnvironment(options: Environment = {}): Config {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return readConfig({ ...process.env, ...options })
}

/** Where the data lives, for people: never with the user and the password of the address. */
export const storeName = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl === null ? `DATA_DIR ${dataDir}` : postgresName(databaseUrl)

/** `PostgreSQL at host:port/database`, of an address that the engine has accepted. */
export function postgresName(url: string): string {
  const [address = ''] = url.replace(/^\w+:\/\//, '').split(/[?#]/)
  return `PostgreSQL at ${address.slice(address.lastIndexOf('@') + 1)}`
}
