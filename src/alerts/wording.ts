import { duration } from '../lib/index.ts'
import type { Finished, SubjectResult } from '../probes/index.ts'
import type { DeployMarkerTable } from '../store/index.ts'
import type { Violation } from './machine.ts'

const TITLE_MAX = 160

/** What a bad result says of a subject. */
export const violationOf = ({ status, label, message, details }: SubjectResult): Violation => ({
  severity: status,
  subject_label: label,
  title: shortened(message),
  message,
  details,
})

/** What errors say of the check itself. */
export const checkViolation = ({ probe, result: { message, details } }: Finished): Violation => ({
  severity: 'warning',
  subject_label: null,
  title: shortened(`“${probe.name}” cannot check: ${message}`),
  message,
  details,
})

/** At most 160 characters, cut between words. */
export function shortened(text: string): string {
  if (text.length <= TITLE_MAX) return text
  const cut = text.slice(0, TITLE_MAX - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > TITLE_MAX / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}

type Marker = Pick<DeployMarkerTable, 'at' | 'source' | 'from_version' | 'to_version'>

/** `12 min after web container 41 → 42`, or `2 min before web container 41 → 42 was seen`. */
export function changeInWords({ at, source, from_version, to_version }: Marker, startedAt: number): string {
  const versions = from_version === null ? to_version : `${from_version} → ${to_version}`
  return at <= startedAt
    ? `${duration(startedAt - at)} after ${source} ${versions}`
    : `${duration(at - startedAt)} before ${source} ${versions} was seen`
}
