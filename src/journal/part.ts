import { floorTo, HOUR } from '../lib/index.ts'
import { NO_EVENT, OTHER, SECTION_ORDER } from '../rollups/index.ts'
import { packRows } from '../store/index.ts'
import { tagsOf } from './cells.ts'
import type { CounterPool, Counters } from './counters.ts'
import { type Cell, fieldsOf, OUTCOME_END } from './delta.ts'
import type { RowBudget } from './row-budget.ts'

/** What the row budget counts apart in a minute. */
type MinuteKind = 'event' | 'tag' | 'signal' | 'tag signal'

/**
 * What a fold adds to a minute of one container, packed, in the order of `SECTION_ORDER`: null where it adds nothing. Names over the
 * budget count as `(other)`.
 */
export function sectionsOf(cell: Cell, budget: RowBudget): (string | null)[] {
  const { minute, containerId, lastSeenAt, events, pool } = cell
  const packed = (kind: MinuteKind, byName: ReadonlyMap<string, { counts: Counters }>) => {
    // What belongs to no event takes no budget, because every day has it anyway.
    const admits = (name: string) =>
      name === NO_EVENT || budget.admitsMinute(lastSeenAt, minute, containerId, kind, name)
    return packRows(withinBudget(byName, admits, pool))
  }
  const tags = tagsOf(cell)
  const sections: Record<(typeof SECTION_ORDER)[number], string | null> = {
    events: packed('event', events),
    tags: packed('tag', tags),
    event_tags: packRows(pairsWithinBudget(cell, budget), OUTCOME_END),
    signals: packed('signal', signalsOf(events)),
    tag_signals: packed('tag signal', signalsOf(tags)),
    fields: packRows(fieldsWithinBudget(cell, budget)),
  }
  return SECTION_ORDER.map((section) => sections[section])
}

/** The signals by name of those that have any; most senders report none. */
function signalsOf(byName: ReadonlyMap<string, { signals: Counters | undefined }>): Map<string, { counts: Counters }> {
  const found = new Map<string, { counts: Counters }>()
  for (const [name, { signals }] of byName) if (signals !== undefined) found.set(name, { counts: signals })
  return found
}

/** Adds `counts` to `sum`, or to new counters when there is no sum yet. */
function sumOf(sum: Counters | undefined, counts: Counters, pool: CounterPool): Counters {
  const into = sum ?? pool.take(counts.width)
  into.addAll(counts)
  return into
}

/** Counts under the names that they are stored under. */
type Named = [names: readonly string[], counts: Counters]

/** Counts by name; those not admitted are summed as `(other)`. */
function withinBudget(
  byName: ReadonlyMap<string, { counts: Counters }>,
  admits: (name: string) => boolean,
  pool: CounterPool,
): Named[] {
  const rows: Named[] = []
  let other: Counters | undefined
  for (const [name, { counts }] of byName) {
    if (name !== OTHER && admits(name)) rows.push([[name], counts])
    else other = sumOf(other, counts, pool)
  }
  return other === undefined ? rows : [...rows, [[OTHER], other]]
}

/** A site's own parameters by event. A pair of names over the budget counts as `(other)` in both. */
function fieldsWithinBudget({ minute, containerId, lastSeenAt, events, pool }: Cell, budget: RowBudget): Named[] {
  const rows: Named[] = []
  let other: Counters | undefined
  for (const [name, event] of events) {
    for (const [field, counts] of fieldsOf(event)) {
      const isOther = name === OTHER && field === OTHER
      if (isOther || !budget.admitsMinute(lastSeenAt, minute, containerId, 'field', name, field))
        other = sumOf(other, counts, pool)
      else rows.push([[name, field], counts])
    }
  }
  return other === undefined ? rows : [...rows, [[OTHER, OTHER], other]]
}

/** Outcomes by event and tag. A pair of names over the budget counts as `(other)` in both. */
function pairsWithinBudget({ minute, containerId, lastSeenAt, events, pool }: Cell, budget: RowBudget): Named[] {
  const hour = floorTo(minute, HOUR)
  const rows: Named[] = []
  let other: Counters | undefined
  for (const [name, { tags }] of events) {
    if (name === NO_EVENT) continue // a batch does not say on which event its tags ran
    for (const [key, { counts }] of tags) {
      const isOther = name === OTHER && key === OTHER
      if (isOther || !budget.admitsHour(lastSeenAt, hour, containerId, name, key)) other = sumOf(other, counts, pool)
      else rows.push([[name, key], counts])
    }
  }
  return other === undefined ? rows : [...rows, [[OTHER, OTHER], other]]
}
