import type { SharedIncident } from '../../api/status.ts'
import { isDetectedAtOnce } from '../../lib/onset.ts'

type Entry = SharedIncident['timeline'][number]

interface SharedLine {
  key: string
  /** ISO */
  at: string
  head: string
  text: string | null
}

/** The words for people outside. */
const HEADS: Readonly<Record<Entry['kind'], string>> = {
  opened: 'detected',
  joined: 'more affected',
  explained: 'cause found',
  belongs: 'part of a larger incident',
  escalated: 'became critical',
  acknowledged: 'someone is on it',
  unacknowledged: 'no one is working on it any more',
  resolved: 'resolved',
  reopened: 'open again',
}

/** The timeline of a shared incident, oldest first, with its first sign if it was detected later. */
export function sharedLines(incident: Pick<SharedIncident, 'started_at' | 'opened_at' | 'timeline'>): SharedLine[] {
  const lines = incident.timeline.map(({ at, kind, text }, n) => ({ key: `${n}`, at, head: HEADS[kind], text }))
  if (isDetectedAtOnce(incident)) return lines
  return [{ key: 'first', at: incident.started_at, head: 'first sign', text: null }, ...lines]
}
