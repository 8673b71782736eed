import { existsSync } from 'node:fs'
import { type Config, readConfig } from '../config.ts'

/** The configuration from the environment and, for what is not set there, from `.env` in the working folder. */
export function configFromEnvironment(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return readConfig(process.env)
}
