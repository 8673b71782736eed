import { type CertificateFacts, isoTime } from '../../lib/index.ts'
import type { CheckFinding } from './check-finding.ts'

/** Days before a certificate ends at which its renewal is overdue: most are renewed 30 days before. */
export interface CertificateLimits {
  certificate_warning_days: number
  certificate_critical_days: number
}

export function judgeCertificate(
  host: string,
  certificate: CertificateFacts | null,
  limits: CertificateLimits,
): CheckFinding[] {
  if (certificate === null) return []
  const { daysLeft, validTo } = certificate
  const status =
    daysLeft <= limits.certificate_critical_days
      ? 'critical'
      : daysLeft <= limits.certificate_warning_days
        ? 'warning'
        : 'ok'
  const left = daysLeft === 1 ? '1 day' : `${daysLeft} days`
  const message = `the certificate of ${host} ends in ${left}, on ${isoTime(validTo).slice(0, 10)}`
  return [{ check: 'certificate', status, message }]
}

/** As details show it. */
export function certificateDetails(certificate: CertificateFacts | null) {
  if (certificate === null) return null
  const { subject, issuer, names, validFrom, validTo, daysLeft, problem } = certificate
  return {
    subject,
    issuer,
    names: names.slice(0, 10),
    valid_from: isoTime(validFrom),
    valid_to: isoTime(validTo),
    days_left: daysLeft,
    problem,
  }
}
