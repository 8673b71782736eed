import type { SharedIncident } from '../../api/status.ts'

type Entry = SharedIncident['timeline'][number]

interface SharedLine {
  key: string
  /** ISO */
  at: string
  head: string
  text: string | null
}

/** As people without a key read it. */
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

/** A beginning that was seen within a minute was seen at once. */
const AT_ONCE_MS = 60_000

/** The story of a shared incident, oldest first: from its first sign, where that came before it was seen. */
export function sharedLines({
  started_at,
  opened_at,
  timeline,
}: Pick<SharedIncident, 'started_at' | 'opened_at' | 'timeline'>): SharedLine[] {
  const lines = timeline.map(({ at, kind, text }, n) => ({ key: `${n}`, at, head: HEADS[kind], text }))
  if (Date.parse(opened_at) - Date.parse(started_at) < AT_ONCE_MS) return lines
  return [{ key: 'first', at: started_at, head: 'first sign', text: null }, ...lines]
}
