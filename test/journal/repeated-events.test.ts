import assert from 'node:assert/strict'
import { test } from 'node:test'
import { occurrencesOf } from '../../src/cli/demo/events.ts'
import { incidentsAround } from '../../src/cli/demo/incidents.ts'
import { FURNITURE, OUTDOOR } from '../../src/cli/demo/world.ts'
import {
  addLog,
  appendDelta,
  appendPayload,
  Delta,
  type EventPayload,
  type Log,
  RepeatedEvents,
} from '../../src/journal/index.ts'
import { floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'

const SITE = 7
/** The hour in which a month ends lies in it. */
const END = Date.parse('2026-12-01T02:17:00Z')

/** All that a delta holds, in an order that does not depend on what came first. */
function contents(delta: Delta): unknown {
  const site = delta.site(SITE)
  const cells = site.cells.map(({ events, pool: _, versions, ...cell }) => ({
    ...cell,
    versions: [...(versions ?? [])],
    events: sorted(events).map(([name, { counts, signals, fields, tags }]) => ({
      ...{ name, counts: numbers(counts), signals: numbers(signals) },
      fields: sorted(fields ?? new Map()).map(([field, of]) => [field, numbers(of)]),
      tags: sorted(tags).map(([key, tag]) => [key, tag.ids, numbers(tag.counts), numbers(tag.signals)]),
    })),
  }))
  return { cells, usage: [...site.usage] }
}

const sorted = <T>(map: Map<string, T>): [string, T][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

function numbers(counters: { appendTo: (list: number[]) => void } | undefined): number[] | undefined {
  if (counters === undefined) return undefined
  const list: number[] = []
  counters.appendTo(list)
  return list
}

for (const site of [OUTDOOR, FURNITURE]) {
  test(`events of ${site.name} that are counted again and again count as much as each by itself`, () => {
    const traffic = { site, incidents: incidentsAround(END), seed: 'test' }
    const counting = new RepeatedEvents(SITE)
    for (const [from, to] of [
      [END - 3 * HOUR, END - HOUR],
      [END - HOUR, END],
    ] as const) {
      const [each, together] = [new Delta(), new Delta()]
      let events = 0
      for (const { time, id, repertoire } of occurrencesOf(traffic, from, to)) {
        const minute = floorTo(time, (time < END - HOUR ? 5 : 1) * MINUTE)
        const log: Log = []
        appendPayload(log, SITE, { ...repertoire.said(id), timestamp_ms: minute }, time)
        addLog(each, log)
        counting.add(together, id, () => repertoire.said(id), minute, time)
        events++
      }
      counting.finish(together)
      assert.ok(events > 300)
      assert.deepEqual(contents(together), contents(each))
      assert.ok(together.site(SITE).items > 0)
    }
  })
}

const EVENT: EventPayload = { container_id: 'GTM-1', event_name: 'e', timestamp_ms: 0, tags: [] }

test('a weight counts as often each time', () => {
  const counting = new RepeatedEvents(SITE)
  const [once, twice, expected] = [new Delta(), new Delta(), new Delta()]
  counting.add(once, 0, () => ({ ...EVENT, weight: 10 }), END, END)
  counting.finish(once)
  counting.finish(once)
  for (let n = 0; n < 2; n++) counting.add(twice, 0, () => EVENT, END, END)
  counting.finish(twice)
  const log: Log = []
  for (let n = 0; n < 2; n++) appendPayload(log, SITE, { ...EVENT, weight: 10, timestamp_ms: END }, END)
  addLog(expected, log)
  assert.deepEqual(contents(twice), contents(expected))
  const written: Log = []
  appendDelta(written, once)
  assert.ok(written.includes(10))
})

test('an event that names clients, or is of a preview, is refused', () => {
  for (const more of [{ preview: true }, { container: { clients: ['GA4'] } }]) {
    const counting = new RepeatedEvents(SITE)
    assert.throws(() => counting.add(new Delta(), 0, () => ({ ...EVENT, ...more }), END, END), /cannot be counted/)
  }
})
