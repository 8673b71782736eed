/**
 * Returns bodies that are as costly as a sender can make them, about `bytes` long in total. Where JSON keys are the cost, another `now`
 * gives other keys.
 */
export type HostileShape = (bytes: number, now: number) => string[]

interface Tag {
  id: string
  name?: string
  status?: string
}

const TAGS_MAX = 500
const KEYS_MAX = 1_000
const BODY_MAX = 1_000_000

/** Makes events until they are `bytes` long. `make` receives the number of events and of tags so far. */
function events(bytes: number, now: number, make: (event: number, tag: number) => object): string[] {
  const bodies: string[] = []
  for (let sum = 0, index = 0; sum < bytes; index++) {
    const payload = { container_id: 'GTM-A', event_name: 'page_view', timestamp_ms: now, tags: [] }
    const body = JSON.stringify({ ...payload, ...make(index, index * TAGS_MAX) })
    sum += body.length
    bodies.push(body)
  }
  return bodies
}

const tags = (from: number, make: (index: number) => Partial<Tag>): Tag[] =>
  Array.from({ length: TAGS_MAX }, (_, i) => ({ id: `${from + i}`, status: 'success', ...make(from + i) }))

function batches(bytes: number, now: number, make: (index: number) => object): string[] {
  const bodies: string[] = []
  for (let sum = 0, index = 0; sum < bytes; index++) {
    const batch = { container_id: 'GTM-A', batch: true, window_start_ms: now, window_end_ms: now }
    const body = JSON.stringify({ ...batch, total_events: Number.MAX_SAFE_INTEGER, ...make(index) })
    sum += body.length
    bodies.push(body)
  }
  return bodies
}

const keys = <T>(from: number, name: (index: number) => string, value: T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: KEYS_MAX }, (_, i) => [name(from + i), value]))

/** Number of different keys of four characters. */
const SHORT_KEYS = 36 ** 4

/** An object with as many keys as fit. They all end in a letter, because numeric keys would be cheaper. */
const manyKeys = (bytes: number, now: number, value: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: bytes / 12 }, (_, i) => [`${((now + i) % SHORT_KEYS).toString(36)}z`, value]))

/** Bodies of one valid event each, with `filler` as the value of an unknown field. */
function unknown(bytes: number, now: number, filler: (length: number) => string): string[] {
  const bodies: string[] = []
  for (let left = bytes; left > 0; left -= BODY_MAX) {
    const field = filler(Math.min(left, BODY_MAX))
    bodies.push(`{"container_id":"GTM-A","event_name":"a","timestamp_ms":${now},"tags":[],"x":${field}}`)
  }
  return bodies
}

const repeated = (text: string, length: number): string => text.repeat(Math.floor(length / text.length))
const listOf = (item: string) => (length: number) => `[${repeated(`${item},`, length)}0]`

/** Valid and invalid bodies, because both cost work before the answer. */
export const HOSTILE_SHAPES: Readonly<Record<string, HostileShape>> = {
  'one tag name with ids without end': (bytes, now) =>
    events(bytes, now, (_, tag) => ({ tags: tags(tag, () => ({ name: 'GA4' })) })),
  'tags without names': (bytes, now) => events(bytes, now, (_, tag) => ({ tags: tags(tag, () => ({})) })),
  'names of tags that never come again': (bytes, now) =>
    events(bytes, now, (_, tag) => ({ tags: tags(tag, (i) => ({ name: `tag ${i}` })) })),
  'names that no database holds': (bytes, now) =>
    events(bytes, now, (_, tag) => ({ tags: tags(tag, (i) => ({ name: `\0${i}` })) })),
  'a container for each event': (bytes, now) => events(bytes, now, (event) => ({ container_id: `GTM-${event}` })),
  'a minute for each event': (bytes, now) =>
    events(bytes, now, (event) => ({ timestamp_ms: now - (event % 1_440) * 60_000 })),
  'a minute and a container for each event': (bytes, now) =>
    events(bytes, now, (event) => ({ timestamp_ms: now - (event % 1_440) * 60_000, container_id: `GTM-${event}` })),
  'a name for each event': (bytes, now) => events(bytes, now, (event) => ({ event_name: `event ${event}` })),
  'batches of names that never come again': (bytes, now) =>
    batches(bytes, now, (index) => ({
      event_counts: keys(index * KEYS_MAX, (i) => `event ${i}`, 1),
      tag_metrics: keys(index * KEYS_MAX, (i) => `tag ${i}`, { success: 1, count: 1 }),
    })),
  'batches of names that are numbers': (bytes, now) =>
    batches(bytes, now, (index) => ({ event_counts: keys(index * KEYS_MAX, (i) => `${i * 4_099}`, 1) })),
  'batches of names that no database holds': (bytes, now) =>
    batches(bytes, now, (index) => ({ event_counts: keys(index * KEYS_MAX, (i) => `\0${i}`, 1) })),
  'unknown objects': (bytes, now) => unknown(bytes, now, listOf('{}')),
  'unknown lists': (bytes, now) => unknown(bytes, now, listOf('[]')),
  'unknown nesting': (bytes, now) =>
    unknown(bytes, now, (length) => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`),
  'unknown nesting of objects': (bytes, now) =>
    unknown(bytes, now, (length) => `${repeated('{"a":', (length * 5) / 6)}0${'}'.repeat(length / 6)}`),
  'unknown keys of which no two are the same': (bytes, now) =>
    unknown(bytes, now, (length) => `{${Array.from({ length: length / 10 }, (_, i) => `"k${i}":0`).join(',')}}`),
  'objects of which no two have the same key': (bytes, now) =>
    unknown(bytes, now, (length) => `[${Array.from({ length: length / 12 }, (_, i) => `{"k${i}":0}`).join(',')}]`),
  'the same key again and again': (bytes, now) =>
    unknown(bytes, now, (length) => `0${repeated(',"x":0', length)},"x":0`),
  'a long text of escapes': (bytes, now) => unknown(bytes, now, (length) => `"${repeated('\\u0000', length)}"`),
  'more tags than there may be': (bytes, now) =>
    unknown(bytes, now, (length) => `0,"tags":${listOf('{"id":"1","status":"success"}')(length)}`),
  'tags that are wrong in every way': (bytes, now) =>
    unknown(bytes, now, (length) => `0,"tags":${listOf('{"id":1,"status":{},"name":[]}')(length)}`),
  'flags that are wrong in every way': (bytes, now) =>
    unknown(bytes, now, (length) => `0,"user_data":${listOf('{}')(length)}`),
  'a batch with more names than there may be': (bytes, now) =>
    batches(1, now, () => ({ event_counts: manyKeys(bytes, now, 1) })),
  'a batch of counters that are wrong': (bytes, now) =>
    batches(1, now, () => ({ event_counts: manyKeys(bytes, now, -1) })),
  'a batch with one name of a megabyte': (bytes, now) =>
    batches(1, now, () => ({ event_counts: { ['\0'.repeat(bytes / 6)]: 1 } })),
  'text that ends before it is JSON': (bytes) => [`{"a":[${repeated('[{"b":', bytes)}`],
}
