import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { generate } from 'selfsigned'
import { DAY } from '../../src/lib/index.ts'

export interface ServerCertificate {
  key: string
  /** The certificate, and those that vouch for it. */
  chain: string
}

export interface Authority {
  key: string
  certificate: string
}

const EC = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

export async function createAuthority(name: string): Promise<Authority> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    ...EC,
    notBeforeDate: new Date(Date.now() - 1_000 * DAY),
    notAfterDate: new Date(Date.now() + 1_000 * DAY),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return { key, certificate: cert }
}

const trustedNames = new Set<string>()

/** Makes this process trust an authority, beside those it trusts already: of several of one name only the first would be found. */
export function trust(authority: Authority): void {
  const { subject } = new X509Certificate(authority.certificate)
  assert.ok(!trustedNames.has(subject), `another test file of this process has an authority called ${subject}`)
  trustedNames.add(subject)
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
}

export interface Wanted {
  /** Null for a certificate that vouches for itself. */
  authority: Authority | null
  host?: string
  addresses?: readonly string[]
  /** Epoch ms; without them, it is valid for 90 days, of which 30 are left. */
  validFrom?: number
  validTo?: number
}

export async function createCertificate({ authority, host, addresses = [], validFrom, validTo }: Wanted) {
  const end = validTo ?? Date.now() + 30 * DAY
  const { private: key, cert } = await generate(
    [
      { name: 'organizationName', value: 'Test' },
      { name: 'commonName', value: host ?? 'here.example' },
    ],
    {
      ...EC,
      notBeforeDate: new Date(validFrom ?? Math.min(Date.now() - 10 * DAY, end - 90 * DAY)),
      notAfterDate: new Date(end),
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        {
          name: 'subjectAltName',
          altNames: [{ type: 2, value: host ?? 'here.example' }, ...addresses.map((ip) => ({ type: 7, ip }) as const)],
        },
      ],
      ...(authority === null ? {} : { ca: { key: authority.key, cert: authority.certificate } }),
    },
  )
  return { key, chain: cert } satisfies ServerCertificate
}
