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
