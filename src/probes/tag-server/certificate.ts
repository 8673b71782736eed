import { Type } from 'typebox'
import { DAY, type ErrorDetail, isoTime } from '../../lib/index.ts'
import type { CertificateFacts } from '../../outbound/index.ts'
import type { CheckFinding } from './judge.ts'

/** Days before a certificate expires at which its renewal is overdue: of 90 days, most are renewed with 30 left. */
export interface CertificateLimits {
  certificate_warning_days: number
  certificate_critical_days: number
}

const USUAL_LIFETIME_DAYS = 90

/**
 * The days at which a certificate changes status: fewer in proportion for one that lives shorter than usual, because it is also
 * renewed later. Otherwise one of six days, or of 45 in its last two weeks, would always be bad.
 */
function limitDays(days: number, { validFrom, validTo }: CertificateFacts): number {
  const lifetimeDays = Math.ceil((validTo - validFrom) / DAY)
  return days * Math.min(1, lifetimeDays / USUAL_LIFETIME_DAYS)
}

export function judgeCertificate(
  host: string,
  certificate: CertificateFacts | null,
  limits: CertificateLimits,
): CheckFinding[] {
  if (certificate === null) return []
  const { daysLeft, validTo } = certificate
  const status =
    daysLeft <= limitDays(limits.certificate_critical_days, certificate)
      ? 'critical'
      : daysLeft <= limitDays(limits.certificate_warning_days, certificate)
        ? 'warning'
        : 'ok'
  const left = daysLeft === 1 ? '1 day' : `${daysLeft} days`
  const message = `the certificate of ${host} ends in ${left}, on ${isoTime(validTo).slice(0, 10)}`
  return [{ check: 'certificate', status, message }]
}

/** The certificate in the form of details. */
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

/** Settings of the types that check certificates. */
export const CERTIFICATE_SETTINGS = {
  certificate_warning_days: Type.Integer({
    minimum: 0,
    maximum: 365,
    default: 21,
    description:
      'Warn when the certificate ends in this many days or less; fewer in proportion if it is valid for less than 90 days',
  }),
  certificate_critical_days: Type.Integer({
    minimum: 0,
    maximum: 365,
    default: 7,
    description:
      'Critical when the certificate ends in this many days or less; fewer in proportion if it is valid for less than 90 days',
  }),
}

export function certificateFaults(limits: CertificateLimits): ErrorDetail[] {
  const { certificate_critical_days: critical, certificate_warning_days: warning } = limits
  if (critical <= warning) return []
  return [
    {
      path: '/certificate_critical_days',
      message: `must not be more than certificate_warning_days, which is ${warning}`,
    },
  ]
}
