import type { Config } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** A random token of 16 characters has more, except for one in some hundred thousands. */
const MIN_DISTINCT_CHARACTERS = 8
/** What manuals print where a secret belongs. */
const PLACEHOLDER = /change.?me|password|passwort|secret|example|your.?token|1234567|qwert/i

/** Whether the tokens are hard to guess. Null without any. */
export function tokensFinding({ adminToken, viewerToken }: Config): DoctorFinding | null {
  const check = 'tokens'
  if (adminToken === null && viewerToken === null) return null
  const weak = [isWeak(adminToken) ? 'ADMIN_TOKEN' : '', isWeak(viewerToken) ? 'VIEWER_TOKEN' : ''].filter(Boolean)
  if (weak.length === 0) return { check, level: 'ok', text: 'not easily guessed' }
  const text = `${weak.join(' and ')} can be guessed: take a random one, as "openssl rand -hex 32" makes it`
  return { check, level: 'warning', text }
}

const isWeak = (token: string | null): boolean =>
  token !== null && (new Set(token).size < MIN_DISTINCT_CHARACTERS || PLACEHOLDER.test(token))
