import type { Config } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Whether failed sign-ins will be held against the caller who made them. Null where no proxy is known of. */
export function trustProxyFinding({ publicUrl, adminToken, trustProxy }: Config): DoctorFinding | null {
  const check = 'TRUST_PROXY'
  const everybody = trustProxy.find(isBroad)
  if (everybody !== undefined) {
    const text = `${everybody} believes every caller in it who it says it is, and then nothing slows down who guesses tokens: name the proxy's address alone`
    return { check, level: 'warning', text }
  }
  if (trustProxy.length > 0) return { check, level: 'ok', text: `callers are identified by ${trustProxy.join(', ')}` }
  // We speak no TLS ourselves, so an https address means a proxy; without a token no one signs in.
  if (publicUrl?.startsWith('https://') !== true || adminToken === null) return null
  const text =
    'is not set, and PUBLIC_URL says that there is a proxy: the failed sign-ins of one lock out all; set it to the address of the proxy'
  return { check, level: 'warning', text }
}

/**
 * Whether a range is broader than any network that proxies of one's own are in: with it a caller can be in it too, and say who
 * it is. The largest private networks are 10.0.0.0/8 and fc00::/7.
 */
function isBroad(range: string): boolean {
  const [address = '', prefix] = range.split('/')
  if (prefix === undefined) return false
  if (!address.includes(':')) return Number(prefix) < 8
  return Number(prefix) < (/^f[cd]/i.test(address) ? 7 : 32)
}
