import { fieldsOf, isObject } from '../../lib/index.ts'

/** Meta's figures for one event of a dataset; null when Meta gives none, or none that this version understands. */
export interface EventQuality {
  name: string
  /** How well the server's events are matched to people: 0 to 10. */
  matchQuality: number | null
  /** Share of the browser's events that the server also sends, in percent over 7 days, and Meta's goal for it. */
  coveragePercent: number | null
  coverageGoalPercent: number | null
  /** How often Meta receives the server's events: `real_time`, `hourly`, … */
  upload: string | null
}

/** A dataset has about ten kinds of events. */
const EVENTS_MAX = 300
const NAME_MAX = 100

/**
 * Returns the events in an answer, each once and in its order; null when it has no list of them. Answers were seen with the
 * list as `web`, as `data`, and as `web` within `data`.
 *
 * @param token removed from everything that is kept, because an answer may repeat what was sent
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

/** Graph sends some numbers as text. */
function numberUpTo(most: number, value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,3}(\.\d{1,12})?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= most ? number : null
}

const textOf = (value: unknown, token: string): string | null =>
  typeof value === 'string' && value.trim() !== '' ? withoutToken(value, token).trim().slice(0, NAME_MAX) : null

export const withoutToken = (text: string, token: string): string => text.replaceAll(token, '…')
