import type { Random } from '../../testkit/random.ts'

/** Requests that one hostile sender makes with its own, valid key. */
export interface HostileKind {
  name: string
  connections: number
  /** Requests a second that it tries to send, below the 500 of the largest fixed plan. */
  perSecond: number
  /** Builds the body of request `number`. */
  body: (number: number, random: Random) => string
  /** Events that a body counts for when it is accepted. */
  events: number
  /** The last bytes of all connections' bodies are sent at the same moment. */
  together?: true
  /** It costs too much to read, and is refused with 400 by rule. */
  isRefused?: true
}

/** A reader with access to reports, instead of a sender. */
export const UNREAD_REPORTS = 'reports that no one reads'

const MAX_BODY = 1_048_576
const TAGS_OF_EVENT = 500
const NAMES_OF_BATCH = 1_000
const DAY_MS = 86_400_000
/** How far stamps lie ahead at most. */
export const AHEAD_MS = 20_000

/** Tags of one event. @param tag of an index: its id and its name, if it has one */
function eventBody(
  container: string,
  event: string,
  tags: (index: number) => { id: string; name?: string },
  count = TAGS_OF_EVENT,
): string {
  return JSON.stringify({
    container_id: container,
    event_name: event,
    timestamp_ms: Date.now(),
    tags: Array.from({ length: count }, (_, index) => ({ ...tags(index), status: 'success', execution_time: index })),
  })
}

const word = (random: Random): string => random.below(2 ** 32).toString(36)

/** Rest of an event after `head`, filled with an unknown field up to the largest body that is taken. */
function padded(fill: (length: number) => string): string {
  const head = `{"container_id":"GTM-HOSTILE","event_name":"page_view","timestamp_ms":${Date.now()},"tags":[],"x":`
  return `${head}${fill(MAX_BODY - head.length - 1)}}`
}

/** `[{},{},…]` of about that many characters: a value for every third byte. */
const emptyObjects = (length: number): string => `[${'{},'.repeat(Math.floor((length - 4) / 3))}{}]`

const zeros = (length: number): string => `[${'0,'.repeat(Math.floor((length - 3) / 2))}0]`

const nested = (length: number): string => {
  const depth = Math.floor(length / 2)
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}

/** Names that every object has already: a count kept under one of them in a plain object goes astray. */
const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  '__defineGetter__',
  'isPrototypeOf',
] as const

/** Every way to send that is valid and yet meant to cost others something. */
export const hostileKinds: readonly HostileKind[] = [
  {
    name: 'a new container and 500 tags in each event',
    connections: 32,
    perSecond: 150,
    body: (number) =>
      eventBody(`GTM-H${number}`, 'page_view', (index) => ({ id: String(index), name: `Tag ${index}` })),
    events: 1,
  },
  {
    name: 'new tag ids under one name',
    connections: 32,
    perSecond: 100,
    body: (number) =>
      eventBody('GTM-HOSTILE', 'page_view', (index) => ({ id: String(number * TAGS_OF_EVENT + index), name: 'Tag' })),
    events: 1,
  },
  {
    name: 'new event and tag names in each event',
    connections: 32,
    perSecond: 100,
    body: (_, random) =>
      eventBody('GTM-HOSTILE', word(random), (index) => ({ id: String(index), name: `Tag ${word(random)} ${index}` })),
    events: 1,
  },
  {
    name: 'empty events in new containers',
    connections: 64,
    perSecond: 450,
    body: (number) => eventBody(`GTM-E${number}`, 'page_view', (index) => ({ id: String(index) }), 0),
    events: 1,
  },
  {
    name: 'batches of 1,000 new names and 1,000 new tags',
    connections: 16,
    perSecond: 20,
    body: (number) =>
      JSON.stringify({
        container_id: `GTM-B${number}`,
        batch: true,
        window_start_ms: Date.now(),
        window_end_ms: Date.now(),
        total_events: NAMES_OF_BATCH,
        event_counts: Object.fromEntries(Array.from({ length: NAMES_OF_BATCH }, (_, i) => [`event ${number} ${i}`, 1])),
        tag_metrics: Object.fromEntries(
          Array.from({ length: NAMES_OF_BATCH }, (_, i) => [
            `tag ${number} ${i}`,
            { success: 1, failure: 0, timeout: 0, exception: 0, total_exec_ms: 5, count: 1 },
          ]),
        ),
      }),
    events: NAMES_OF_BATCH,
  },
  {
    name: 'events of every minute of a day, late and in the future',
    connections: 32,
    perSecond: 300,
    body: (number, random) =>
      JSON.stringify({
        container_id: 'GTM-HOSTILE',
        event_name: `event ${random.below(400)}`,
        timestamp_ms: Date.now() - random.below(DAY_MS) + random.below(AHEAD_MS) * (number % 2),
        tags: Array.from({ length: 40 }, (_, i) => ({
          id: String(i),
          name: `Tag ${random.below(450)}`,
          status: 'failure',
        })),
      }),
    events: 1,
  },
  {
    name: '1 MB of empty objects in an unknown field, finished together',
    connections: 220,
    perSecond: 440,
    body: () => padded(emptyObjects),
    events: 1,
    together: true,
    isRefused: true,
  },
  {
    name: '1 MB nested half a million deep in an unknown field',
    connections: 32,
    perSecond: 40,
    body: () => padded(nested),
    events: 1,
    isRefused: true,
  },
  {
    name: '1 MB of zeros in an unknown field',
    connections: 32,
    perSecond: 40,
    body: () => padded(zeros),
    events: 1,
  },
  {
    name: 'names that every object has already',
    connections: 32,
    perSecond: 300,
    body: (_, random) =>
      eventBody(
        random.pick(PROTOTYPE_NAMES),
        random.pick(PROTOTYPE_NAMES),
        () => ({ id: random.pick(PROTOTYPE_NAMES), name: random.pick(PROTOTYPE_NAMES) }),
        20,
      ),
    events: 1,
  },
]
