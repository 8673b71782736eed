import type { FieldsAnswer } from '../../api/analytics.ts'

type OwnField = FieldsAnswer['fields'][number]

/** What a name is of which no event is chosen. */
export const ALL_EVENTS = 'All events'

/** What can be looked at: each event that names parameters, and all together where there are several or some do not say which. */
export function choicesOf(fields: readonly OwnField[]): string[] {
  const events = [...new Set(fields.map(({ event_name }) => event_name))]
  const named = events.filter((name) => name !== null)
  return events.length === 1 && named.length === 1 ? named : [ALL_EVENTS, ...named]
}

export interface FieldShare {
  field: string
  total: number
  rate: number | null
}

/** How often each parameter was there on an event, or on all: those that are named most often, at most so many. */
export function sharesOf(fields: readonly OwnField[], choice: string, most: number): FieldShare[] {
  const sums = new Map<string, { present: number; total: number }>()
  for (const { event_name, field, present, total } of fields) {
    if (choice !== ALL_EVENTS && event_name !== choice) continue
    const sum = sums.get(field) ?? { present: 0, total: 0 }
    sums.set(field, { present: sum.present + present, total: sum.total + total })
  }
  return Array.from(sums, ([field, { present, total }]) => ({
    field,
    total,
    rate: total === 0 ? null : present / total,
  }))
    .toSorted((a, b) => b.total - a.total || (a.field < b.field ? -1 : 1))
    .slice(0, most)
}
