import { type Config, isLoopback, signOfProxy } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { googleFinding } from './google.ts'
import { keyHeadersFinding } from './key-headers.ts'
import { outboundAllowFinding } from './outbound-allow.ts'
import { tokensFinding } from './tokens.ts'
import { trustProxyFinding } from './trust-proxy.ts'

/** What of a valid configuration will surprise its operator. What is not set gets no line, unless it should be. */
export const configFindings = (config: Config): DoctorFinding[] =>
  [
    access(config),
    tokensFinding(config),
    publicUrl(config),
    trustProxyFinding(config),
    keyHeadersFinding(config),
    outboundAllowFinding(config),
    googleFinding(config),
  ].filter((finding) => finding !== null)

function access(config: Config): DoctorFinding {
  const { host, adminToken } = config
  const check = 'access'
  if (adminToken !== null) return { check, level: 'ok', text: 'management needs the ADMIN_TOKEN' }
  if (isLoopback(host) && signOfProxy(config) === null) {
    const text = `management needs no key, and only this machine reaches HOST=${host}`
    return { check, level: 'ok', text }
  }
  const { publicUrl: url } = config
  const names = url === null ? '; to a name with a dot it answers only as PUBLIC_URL, which is not set' : ''
  const text = `anyone who reaches ${url ?? `HOST=${host}`} can change everything: set ADMIN_TOKEN${names}`
  return { check, level: 'warning', text }
}

function publicUrl({ publicUrl: url }: Config): DoctorFinding {
  const check = 'PUBLIC_URL'
  if (url?.startsWith('https://') === true) return { check, level: 'ok', text: url }
  const given = url === null ? 'is not set' : `is ${url}`
  const text = `${given}, but the tag sends to https only: put a TLS proxy in front and set PUBLIC_URL to its address`
  return { check, level: 'warning', text }
}
