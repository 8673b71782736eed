import type { FieldsAnswer } from '../../api/analytics.ts'

type OwnField = FieldsAnswer['fields'][number]

/** The choice of all events together, which is no event's name. */
export const ALL_EVENTS = ''

/** The choices: each event with own parameters, and all together when there are several or some have no event. */
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

/** How often each parameter was present on an event or on all; the `most` most frequent. */
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
