import type { SharedIncident } from '../../api/status.ts'

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
}

/** Maximum delay between the beginning and its detection that counts as none. */
const AT_ONCE_MS = 60_000

/** The timeline of a shared incident, oldest first, with its first sign if it was detected later. */
export function sharedLines({
  started_at,
  opened_at,
  timeline,
}: Pick<SharedIncident, 'started_at' | 'opened_at' | 'timeline'>): SharedLine[] {
  const lines = timeline.map(({ at, kind, text }, n) => ({ key: `${n}`, at, head: HEADS[kind], text }))
  if (Date.parse(opened_at) - Date.parse(started_at) < AT_ONCE_MS) return lines
  return [{ key: 'first', at: started_at, head: 'first sign', text: null }, ...lines]
}
