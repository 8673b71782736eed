import { percent, whole } from '../../lib/words.ts'
import type { Impact } from './impact.ts'

type Loss = NonNullable<Impact['events']>

interface ImpactLine {
  what: string
  /** "about 267 of 425 (63 %)" */
  lost: string
  /** "between 240 and 290"; null when the loss was counted, not estimated. */
  range: string | null
}

/** What was lost, part by part. */
export function impactLines({ events, key_events, executions, key_executions }: Impact): ImpactLine[] {
  return [
    ...(events === null ? [] : [lineOf('Events that did not come', events)]),
    ...key_events.map((loss) => lineOf(`of them ${loss.event_name}`, loss)),
    ...(executions === null ? [] : [lineOf('Tag executions that failed or did not happen', executions)]),
    ...key_executions.map((loss) => lineOf(`of them on ${loss.event_name}`, loss)),
  ]
}

function lineOf(what: string, { lost, of, low, high }: Loss): ImpactLine {
  const isCounted = low === lost && high === lost
  const share = of === 0 ? '' : ` (${percent(lost / of)})`
  return {
    what,
    lost: `${isCounted ? '' : 'about '}${whole(lost)} of ${whole(of)}${share}`,
    range: isCounted ? null : `between ${whole(low)} and ${whole(high)}`,
  }
}
