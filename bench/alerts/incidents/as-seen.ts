import type { Fault } from '../../detection/faults.ts'
import type { Cause } from './causes.ts'
import { AFTERMATH_SLOTS } from './truth.ts'

/**
 * Which faults no one could tell apart, by a name that they share: those of one subject of a site of which one begins before the other is
 * over. A loss of half of a site's events in the middle of another that creeps in is one loss to everyone who watches from outside: the
 * same alert shows both, and is open until both are over. That they are in one incident is no wrong merge.
 */
export function asSeen(causes: readonly Cause[]): (cause: Cause) => string {
  const names = new Map<Cause, string>()
  for (const [subject, alike] of Map.groupBy(causes, subjectOf)) {
    if (subject !== null) nameRuns(alike, names)
  }
  return (cause) => names.get(cause) ?? cause.id
}

/** Gives those that overlap, in order of time, the name of the first. */
function nameRuns(causes: readonly Cause[], names: Map<Cause, string>): void {
  let run: { name: string; to: number } | undefined
  for (const cause of causes.toSorted((a, b) => a.from - b.from)) {
    const overlaps = run !== undefined && cause.from <= run.to + AFTERMATH_SLOTS
    run =
      overlaps && run !== undefined
        ? { name: run.name, to: Math.max(run.to, cause.to) }
        : { name: cause.id, to: cause.to }
    names.set(cause, run.name)
  }
}

/** What a fault of a single site is about; null of what is seen by other signs too, or on other sites. */
function subjectOf({ kind, faults }: Cause): string | null {
  const [only, ...others] = faults
  if (kind !== 'independent' || only === undefined || others.length > 0) return null
  const [place, [fault]] = only
  return fault === undefined ? null : `${place} ${subjectOfFault(fault)}`
}

function subjectOfFault({ kind, event, tag, field }: Fault): string {
  switch (kind) {
    case 'silent_sender':
    case 'partial_loss':
    case 'slow_decay':
      return 'site'
    case 'event_dead':
    case 'event_partial':
      return `event ${event}`
    case 'tag_dead':
    case 'tag_off_event':
      return `missing ${tag}`
    default:
      return `${kind} ${tag ?? field}`
  }
}
