import { event } from '../../testkit/payloads.ts'
import type { Random } from '../../testkit/random.ts'

/**
 * `plain`: sent once, and never again. `keyed`: with an `Idempotency-Key`, and again until it is acknowledged. `twins`: the
 * same, each on two connections at the same time, as a sender does whose first try is merely slow.
 */
export type Manner = 'plain' | 'keyed' | 'twins'

/** How a site sends. */
export interface Habit {
  manner: Manner
  /** Tags in each event: so many executions it counts for. */
  tags: number
  /** What is sent as request `number`: one event. */
  payload: (number: number, timestampMs: number, random: Random) => object
  /** Requests under way at once; of twins, pairs. */
  senders: number
  /** Of each sender, after an answer. */
  pauseMs: number
  /** Requests in a round, so that reports on it stay within their limits. */
  mostPerRound: number
}

const ordinary = (manner: Manner): Habit => ({
  manner,
  tags: 1,
  payload: (_, timestampMs) =>
    event(timestampMs, { tags: [{ id: '12', name: 'GA4', status: 'success', execution_time: 84 }] }),
  senders: 1,
  pauseMs: 0,
  mostPerRound: Number.POSITIVE_INFINITY,
})

/** What every site of a healthy customer does. */
export const HEALTHY: Readonly<Record<Manner, Habit>> = {
  plain: ordinary('plain'),
  keyed: ordinary('keyed'),
  twins: ordinary('twins'),
}

/** Largest number of tags that an event may have. */
const MOST_TAGS = 500
const HEAVY_TAGS = 250
/** With the tags: within the rows that a site may have, and more than one transaction of a fold takes. */
const HEAVY_CONTAINERS = 10

/** Many tags in some containers, all of this minute: few rows are new, and yet they fill transactions of a fold. */
export const HEAVY: Habit = {
  ...ordinary('keyed'),
  tags: HEAVY_TAGS,
  payload: (number) =>
    eventOf(`GTM-H${number % HEAVY_CONTAINERS}`, 'purchase', Date.now(), HEAVY_TAGS, (tag) => ({
      id: `${tag}`,
      name: `Tag ${tag}`,
    })),
  senders: 2,
  pauseMs: 100,
  mostPerRound: 60,
}

/**
 * Valid, and as costly as can be: as many tags as are taken, by turns in new containers, with new ids under one name, and with
 * new names, in a burst that is too much for a fold's transactions.
 */
export const HOSTILE: Habit = {
  ...ordinary('keyed'),
  tags: MOST_TAGS,
  payload: (number, timestampMs, random) => {
    const word = () => Math.floor(random.between(0, 2 ** 32)).toString(36)
    const id = (tag: number) => `${number * MOST_TAGS + tag}`
    const turns = [
      () =>
        eventOf(`GTM-X${number}`, 'purchase', timestampMs, MOST_TAGS, (tag) => ({ id: `${tag}`, name: `Tag ${tag}` })),
      () => eventOf('GTM-X', 'purchase', timestampMs, MOST_TAGS, (tag) => ({ id: id(tag), name: 'Tag' })),
      () => eventOf('GTM-X', word(), timestampMs, MOST_TAGS, (tag) => ({ id: `${tag}`, name: word() })),
    ] as const
    return (turns[number % turns.length] ?? turns[0])()
  },
  senders: 6,
  pauseMs: 20,
  mostPerRound: 60,
}

function eventOf(
  container: string,
  event: string,
  timestampMs: number,
  tags: number,
  tagOf: (tag: number) => { id: string; name: string },
): object {
  return {
    container_id: container,
    event_name: event,
    timestamp_ms: timestampMs,
    tags: Array.from({ length: tags }, (_, tag) => ({ ...tagOf(tag), status: 'success', execution_time: tag })),
  }
}
