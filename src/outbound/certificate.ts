import type { X509Certificate } from 'node:crypto'
import { DAY } from '../lib/index.ts'

/** Facts of a server's certificate. Its texts come from strangers: show them as text only. */
export interface CertificateFacts {
  /** Distinguished names in one line: `C=US, O=Let's Encrypt, CN=R11`. */
  subject: string
  issuer: string
  /** Host names and addresses that it is valid for, at most 50. */
  names: readonly string[]
  /** Epoch ms. */
  validFrom: number
  validTo: number
  /** Whole days until `validTo`, rounded down; negative once it has expired. */
  daysLeft: number
  /** Why it is not accepted, as a sentence without a full stop; null when it is accepted. */
  problem: string | null
}

/** Most names kept: a certificate may have thousands, and every result stores them. */
const MAX_NAMES = 50
/** Longest name, characters. */
const MAX_NAME = 500

const WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate, or one that signed it, has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  CERT_SIGNATURE_FAILURE: 'the signature of the certificate is wrong',
  CERT_UNTRUSTED: 'the certificate is not trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for other names',
  HOSTNAME_MISMATCH: 'the certificate is for other names',
  INVALID_PURPOSE: 'the certificate is not for a server',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'a certificate of the chain is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate comes from an authority that is not known',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'a certificate of the chain is missing, or its authority is not known',
}

/** @param problem OpenSSL's or Node's code of the fault that verification found, or null */
export function certificateFacts(certificate: X509Certificate, problem: string | null, now: number): CertificateFacts {
  const validTo = certificate.validToDate.getTime()
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    names: namesOf(certificate.subjectAltName),
    validFrom: certificate.validFromDate.getTime(),
    validTo,
    daysLeft: Math.floor((validTo - now) / DAY),
    problem: problem === null ? null : (WORDS[problem] ?? `the certificate is not accepted (${problem})`),
  }
}

/** Node returns undefined for a certificate without a subject. */
const oneLine = (name: string | undefined): string => (name ?? '').slice(0, MAX_NAME).split('\n').join(', ')

/** The names in `DNS:a.example, DNS:b.example, IP Address:192.0.2.1`. */
const namesOf = (subjectAltName: string | undefined): string[] =>
  subjectAltName === undefined
    ? []
    : subjectAltName.split(', ', MAX_NAMES).map((name) => name.replace(/^(DNS|IP Address):/, '').slice(0, MAX_NAME))
