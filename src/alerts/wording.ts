import { duration } from '../lib/index.ts'
import type { Finished } from '../probes/index.ts'
import type { DeployMarkerTable } from '../store/index.ts'
import type { Complaint, Subject } from './machine.ts'

const TITLE_MAX = 160

/** What a bad result makes an alert say. */
export function complaintOf(subject: Subject, { status, probe, result }: Finished): Complaint {
  const { message, details } = result
  if (subject === 'check') {
    return { severity: 'warning', title: shortened(`“${probe.name}” cannot check: ${message}`), message, details }
  }
  return { severity: status === 'critical' ? 'critical' : 'warning', title: shortened(message), message, details }
}

/** At most 160 characters, cut between words. */
export function shortened(text: string): string {
  if (text.length <= TITLE_MAX) return text
  const cut = text.slice(0, TITLE_MAX - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > TITLE_MAX / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}

type Marker = Pick<DeployMarkerTable, 'at' | 'source' | 'from_version' | 'to_version'>

/** `12 min after web container 41 → 42`. */
export function changeInWords({ at, source, from_version, to_version }: Marker, openedAt: number): string {
  const versions = from_version === null ? to_version : `${from_version} → ${to_version}`
  return `${duration(Math.max(0, openedAt - at))} after ${source} ${versions}`
}
