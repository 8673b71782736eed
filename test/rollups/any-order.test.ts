import assert from 'node:assert/strict'
import fc from 'fast-check'
import { matrix, overview } from '../../src/analytics/index.ts'
import { type EventPayload, Folder, foldJournal, isFoldConflict } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { addUpNextHour } from '../../src/rollups/add-up.ts'
import { GRAIN, mergeParts, rollUp } from '../../src/rollups/index.ts'
import { removeOldestHour } from '../../src/rollups/minute-retention.ts'
import { type Store, totalOf } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { enginesInTurn, testOnEveryEngine } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { Random } from '../../testkit/random.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { inTurns, type Step } from '../../testkit/turns.ts'

/** Two hours so old that minutes of both are added up by fives, and those of the first may be gone. */
const START = Date.parse('2026-11-20T10:00:00.000Z')
const NOW = START + 3 * DAY
const RANGE = { from: START, to: START + 2 * HOUR }
const TAGS: EventPayload['tags'] = [{ id: '12', name: 'GA4', status: 'failure', execution_time: 84 }]
/** Enough counts that an hour with more is derived and added up in slices. */
const FEW_ROWS = 4
/** The minutes that are merged. */
const MERGED = [0, 1, 60]
/** The most that a process does while all others wait: more than what it does takes. */
const MOST_STEPS = 60

const someEvents = fc.array(
  fc.record({
    minute: fc.constantFrom(0, 0, 1, 60),
    container_id: fc.constantFrom('GTM-A', 'GTM-A', 'GTM-B'),
    event_name: fc.constantFrom('purchase', 'page_view', 'with "quotes"'),
    tags: fc.constantFrom([], TAGS),
    fields: fc.constantFrom({}, { coupon: true }),
  }),
  { minLength: 1, maxLength: 4 },
)

const countsOf = (events: readonly Pick<EventPayload, 'tags' | 'fields'>[]) => {
  const tags = sumOf(events.map((event) => event.tags.length))
  return {
    events: events.length,
    tags,
    pairs: tags,
    fields: events.filter(({ fields }) => fields?.coupon === true).length,
  }
}

/** What nodes do to minutes. */
const KINDS = ['fold', 'merge', 'derive', 'add up', 'delete'] as const

class Stopped extends Error {}

/** A store whose process ends before batch number `calls`, counted from 0. */
function endingBefore(store: Store, calls: number): Store {
  let call = 0
  return steppingStore(store, async (what) => {
    if (what === 'batch' && call++ === calls) throw new Stopped()
  })
}

/** What each table has at this grain: whatever is derived from minutes must say the same. */
async function sums(store: Store, siteNo: number, grain: number): Promise<Record<string, number>> {
  const sum = async (
    table: 'event_rollups' | 'tag_rollups' | 'event_tag_rollups' | 'field_rollups',
    column: string,
  ) => {
    const row = await store.read
      .selectFrom(table)
      .select(totalOf(column).as('sum'))
      .where('site_no', '=', siteNo)
      .where('grain', '=', grain)
      .executeTakeFirst()
    return Number(row?.sum ?? 0)
  }
  return {
    events: await sum('event_rollups', 'total'),
    tags: await sum('tag_rollups', 'failure'),
    pairs: await sum('event_tag_rollups', 'failure'),
    fields: await sum('field_rollups', 'present'),
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/** A process goes on for some steps before the next one, so that any of them may be suspended while others do all that they have to. */
function inSpells(random: Random): (count: number) => number {
  let [chosen, left] = [0, 0]
  return (count) => {
    if (left-- <= 0) {
      chosen = random.below(count)
      left = random.chance(0.5) ? 0 : random.below(MOST_STEPS)
    }
    return chosen
  }
}

testOnEveryEngine(
  'in whatever order nodes fold, merge, roll up, add up and delete minutes, every event is counted once',
  async (store) => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(someEvents, { minLength: 3, maxLength: 8 }),
        // Two nodes for each kind, and few kinds at a time: with all of them, each finds little to do.
        fc.subarray([...KINDS], { minLength: 1, maxLength: 3 }),
        fc.integer(),
        fc.boolean(),
        async (rows, kinds, seed, inSlices) => {
          const nodeId = `node ${run++}`
          const site = await insertSite(store)
          const siteNo = site.site_no
          const random = new Random(seed)
          const rowsAtOnce = inSlices ? FEW_ROWS : 10_000
          const isDeleting = kinds.includes('delete')
          let landed = 0
          const fold = (own: Store) =>
            foldJournal(own, new Folder(own, () => 'client'), { nodeId }).catch((thrown: unknown) => {
              if (!isFoldConflict(thrown)) throw thrown
            })
          const ingesting = async (step: Step) => {
            for (const events of rows) {
              await step()
              const payloads = events.map(({ minute, ...event }) =>
                eventPayload({ ...event, timestamp_ms: START + minute * MINUTE }),
              )
              await writeJournal(store, nodeId, landed + 1, deltaOf(siteNo, payloads, START + 3 * HOUR))
              landed++
              await fold(steppingStore(store, step))
            }
          }
          const node = (act: (own: Store) => Promise<unknown>, on: Store) => async (step: Step) => {
            try {
              do {
                await step()
                await act(steppingStore(on, step))
              } while (landed < rows.length)
            } catch (thrown) {
              if (!(thrown instanceof Stopped)) throw thrown
            }
          }
          const minutes = MERGED.map((minute) => ({ siteNo, minute: START + minute * MINUTE }))
          const work: Record<(typeof KINDS)[number], (own: Store) => Promise<unknown>> = {
            fold,
            merge: (own) => mergeParts(own, minutes),
            derive: (own) => rollUp(own, NOW, { rowsAtOnce }),
            'add up': async (own) => {
              while (await addUpNextHour(own, siteNo, NOW, rowsAtOnce));
            },
            delete: (own) => removeOldestHour(own, siteNo, START + HOUR, () => true),
          }
          const read = async () => {
            const waiting = await store.read.selectFrom('journal').select('seq').where('node_id', '=', nodeId).execute()
            const seqs = new Set(waiting.map(({ seq }) => seq))
            const folded = rows.slice(0, landed).filter((_, index) => !seqs.has(index + 1))
            const context = { store, clock: new TestClock(NOW), retention: { minuteDays: 7, hourDays: 400 } }
            const seen = await overview(context, site, RANGE)
            const { cells } = await matrix(context, site, RANGE)
            const { events, pairs } = countsOf(folded.flat())
            assert.equal(seen.total_events, events)
            assert.equal(sumOf(cells.map(({ executions }) => executions)), pairs)
          }
          await inTurns(
            [
              ingesting,
              ...[...kinds, ...kinds].map((kind) =>
                node(work[kind], random.chance(0.2) ? endingBefore(store, random.below(12)) : store),
              ),
              // An hour whose minutes are deleted shows its late events once it is rolled up again.
              ...(isDeleting ? [] : [node(read, store)]),
            ],
            inSpells(random),
          )
          await fold(store)
          await rollUpAll(store, NOW, { rowsAtOnce })
          const expected = countsOf(rows.flat())
          for (const grain of [GRAIN.hour, GRAIN.day]) assert.deepEqual(await sums(store, siteNo, grain), expected)
          while (await addUpNextHour(store, siteNo, NOW, rowsAtOnce));
          if (!isDeleting) assert.equal(await totalEvents(store, siteNo), expected.events)
          assert.deepEqual(await store.read.selectFrom('dirty_buckets').selectAll().execute(), [])
        },
      ),
      { numRuns: amount(8, 100) },
    )
  },
  enginesInTurn,
)
