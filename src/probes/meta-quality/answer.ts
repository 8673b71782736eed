import { fieldsOf, isObject } from '../../lib/index.ts'

/** What Meta says of one event of a dataset; null where it says nothing, or nothing that this program understands. */
export interface EventQuality {
  name: string
  /** How well the server's events are matched to people: 0 to 10. */
  matchQuality: number | null
  /** Share of the browser's events that the server's cover, in percent over 7 days, and what Meta wants it to be. */
  coveragePercent: number | null
  coverageGoalPercent: number | null
  /** How often the server's events are received: `real_time`, `hourly`, … */
  upload: string | null
}

/** A dataset has some ten kinds of events. */
const EVENTS_MAX = 300
const NAME_MAX = 100

/**
 * The events in an answer, each once, in its order; null where it has no list of them. Lists were seen as `web`, as `data`, and as
 * `web` within `data`.
 *
 * @param token is cut out of all that is kept: the far side may send back whatever it was sent
 */
export function eventsIn(answer: unknown, token: string): EventQuality[] | null {
  const list = listIn(answer)
  if (list === null) return null
  const events = new Map<string, EventQuality>()
  for (const entry of list.slice(0, EVENTS_MAX)) {
    const event = fieldsOf(entry)
    const name = textOf(event.event_name, token)
    if (name === null || events.has(name)) continue
    const quality = event.event_match_quality
    const coverage = fieldsOf(event.event_coverage)
    events.set(name, {
      name,
      matchQuality: numberUpTo(10, isObject(quality) ? quality.composite_score : quality),
      coveragePercent: numberUpTo(100, coverage.percentage),
      coverageGoalPercent: numberUpTo(100, coverage.goal_percentage),
      upload: textOf(fieldsOf(event.data_freshness).upload_frequency, token)?.toLowerCase() ?? null,
    })
  }
  return [...events.values()]
}

function listIn(answer: unknown): readonly unknown[] | null {
  const { web, data } = fieldsOf(answer)
  if (Array.isArray(web)) return web
  if (!Array.isArray(data)) return null
  const inner = fieldsOf(data[0]).web
  return Array.isArray(inner) ? inner : data
}

/** Graph writes some numbers as text. */
function numberUpTo(most: number, value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,3}(\.\d{1,12})?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= most ? number : null
}

const textOf = (value: unknown, token: string): string | null =>
  typeof value === 'string' && value.trim() !== '' ? withoutToken(value, token).trim().slice(0, NAME_MAX) : null

export const withoutToken = (text: string, token: string): string => text.replaceAll(token, '…')
