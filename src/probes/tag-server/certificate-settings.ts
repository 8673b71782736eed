import { Type } from 'typebox'
import type { ErrorDetail } from '../../lib/index.ts'
import type { CertificateLimits } from './certificate.ts'

/** Settings of the types that look at certificates. */
export const CERTIFICATE_SETTINGS = {
  certificate_warning_days: Type.Integer({
    minimum: 0,
    maximum: 365,
    default: 21,
    description: 'Warn when the certificate ends in this many days or less',
  }),
  certificate_critical_days: Type.Integer({
    minimum: 0,
    maximum: 365,
    default: 7,
    description: 'Critical when the certificate ends in this many days or less',
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
