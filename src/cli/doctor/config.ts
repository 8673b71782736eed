import { type Config, isLoopback } from '../../config.ts'
import type { Finding } from './finding.ts'

/** What of a valid configuration will surprise its operator. */
export const configFindings = (config: Config): Finding[] => [access(config), publicUrl(config)]

function access({ host, adminToken, allowUnauthenticated }: Config): Finding {
  const check = 'access'
  if (adminToken !== null) return { check, level: 'ok', text: 'management needs the ADMIN_TOKEN' }
  if (isLoopback(host)) {
    const text = `management needs no key, and only this machine reaches HOST=${host}`
    return { check, level: 'ok', text }
  }
  const text = `anyone who reaches HOST=${host} can change everything: set ADMIN_TOKEN`
  return { check, level: allowUnauthenticated ? 'warning' : 'failed', text }
}

function publicUrl({ publicUrl: url }: Config): Finding {
  const check = 'PUBLIC_URL'
  if (url?.startsWith('https://') === true) return { check, level: 'ok', text: url }
  const given = url === null ? 'is not set' : `is ${url}`
  const text = `${given}, but the tag sends to https only: put a TLS proxy in front and set PUBLIC_URL to its address`
  return { check, level: 'warning', text }
}
