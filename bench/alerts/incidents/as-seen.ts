import type { Fault } from '../../detection/faults.ts'
import type { Cause } from './causes.ts'
import { AFTERMATH_SLOTS } from './truth.ts'

/**
 * Which faults no one could tell apart, by a name that they share: those of one subject of a site of which one begins before the other is
 * over. A loss of half of a site's events in the middle of another that creeps in, or while its server is down, is one loss to everyone who
 * watches from outside: the same alert shows both, and is open until both are over. That they are in one incident is no wrong merge.
 */
export function asSeen(causes: readonly Cause[]): (cause: Cause) => string {
  const names = new Map(causes.map((cause) => [cause, cause.id]))
  const seen = causes.map((cause) => ({ cause, subjects: subjectsOf(cause) }))
  for (const [index, { cause, subjects }] of seen.entries()) {
    for (const other of seen.slice(0, index)) {
      if (!overlap(cause, other.cause) || !subjects.some((subject) => other.subjects.includes(subject))) continue
      const [kept, dropped] = [names.get(other.cause), names.get(cause)]
      for (const [one, name] of names) if (name === dropped && kept !== undefined) names.set(one, kept)
    }
  }
  return (cause) => names.get(cause) ?? cause.id
}

const overlap = (a: Cause, b: Cause): boolean => a.from <= b.to + AFTERMATH_SLOTS && b.from <= a.to + AFTERMATH_SLOTS

/** What a cause on a single site is about; nothing of what is seen on other sites too, or by many tags at once. */
function subjectsOf({ kind, server, faults }: Cause): string[] {
  const [only, ...others] = faults
  if (only === undefined || others.length > 0) return []
  const [place, ofSite] = only
  if (kind === 'server') return [`${place} server`, ...(server === 'slow' ? [] : [`${place} site`])]
  return kind === 'independent' ? ofSite.map((fault) => `${place} ${subjectOfFault(fault)}`) : []
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
