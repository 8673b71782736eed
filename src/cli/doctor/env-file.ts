import { readFile, stat } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { SETTINGS } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const OTHERS_MAY_READ = 0o004

/** Whether strangers on this machine can read the secrets of a `.env`. Null without secrets in it. */
export async function envFileFinding(path: string): Promise<DoctorFinding | null> {
  const check = '.env'
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return null
  const given = parseEnv(text)
  const secrets = Object.values(SETTINGS).filter(({ name, secret }) => secret && (given[name] ?? '') !== '')
  if (secrets.length === 0) return null
  if (((await stat(path)).mode & OTHERS_MAY_READ) === 0) {
    return { check, level: 'ok', text: 'others on this machine cannot read it' }
  }
  const names = secrets.map(({ name }) => name).join(', ')
  return { check, level: 'warning', text: `anyone on this machine can read ${names} in it: chmod 600 .env` }
}
