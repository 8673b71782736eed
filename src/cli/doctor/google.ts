import { createPrivateKey } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Whether the key in GOOGLE_CREDENTIALS can sign anything; Google is not asked. Null without one. */
export function googleFinding({ googleCredentials }: Config): DoctorFinding | null {
  if (googleCredentials === null) return null
  const check = 'GOOGLE_CREDENTIALS'
  try {
    createPrivateKey(googleCredentials.private_key)
    return { check, level: 'ok', text: `the key of ${googleCredentials.client_email}` }
  } catch {
    const text =
      'its private_key is no key (lost line ends are the usual reason): give the file as it was downloaded, as GOOGLE_CREDENTIALS_FILE'
    return { check, level: 'warning', text }
  }
}
