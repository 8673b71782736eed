import assert from 'node:assert/strict'
import { test } from 'node:test'
import { affectedBy, type Impact, impactOf, lossInWords, togetherOf } from '../../../src/alerts/incidents/impact.ts'
import { counted, type Loss } from '../../../src/detection/index.ts'
import type { LossCounts } from '../../../src/probes/index.ts'
import { type Fault, HOURS, sign } from './grouping-support.ts'

const KEY = ['purchase', 'begin_checkout']
const NOW = sign({ type: 'http_health', at: 3 * HOURS }).startedAt
const time = (minutes: number) => sign({ type: 'http_health', at: minutes }).startedAt

const about = (lost: number, of: number, spread = 0.1 * lost): Loss => ({
  of,
  lost,
  low: Math.max(0, lost - spread),
  high: lost + spread,
})

/** A site with 1,000 events in the time, of which these are lost. */
function countsOf(lost: Readonly<Record<string, Loss>>, over: Partial<LossCounts> = {}): LossCounts {
  return {
    names: ['page_view', ...Object.keys(lost).filter((name) => name !== 'all')],
    events: (name) => lost[name ?? 'all'] ?? (name === null ? about(0, 1_000, 50) : null),
    executions: 5_000,
    tags: new Map(),
    ...over,
  }
}

const ran = (runs: number, bad: number, over: { occurrences?: number; before?: number } = {}) => ({
  occurrences: over.occurrences ?? runs,
  runs,
  bad,
  before: { occurrences: over.before ?? 1_000, runs: over.before ?? 1_000 },
})

const faultsOf = (...faults: Fault[]) =>
  affectedBy(
    faults.map((fault, index) => sign(fault, String(index))),
    NOW,
  )

const AFFECTED: readonly [what: string, faults: readonly Fault[], affected: object | null][] = [
  ['the server', [{ type: 'http_health', at: 0 }], { isWhole: true, events: [] }],
  ['the banner', [{ type: 'cmp_check', at: 0 }], { isWhole: true }],
  [
    'a silence with an event',
    [
      { type: 'data_volume', at: 0 },
      { type: 'data_volume', at: 5, event_name: 'purchase' },
    ],
    { isWhole: true, events: [] },
  ],
  [
    'two events',
    [
      { type: 'data_volume', at: 0, event_name: 'a' },
      { type: 'data_volume', at: 5, event_name: 'b' },
    ],
    { isWhole: false, events: ['a', 'b'] },
  ],
  [
    'a failing tag',
    [{ type: 'tag_failure_rate', at: 0, tag_key: 'Meta' }],
    { isWhole: false, failing: ['Meta'], missing: [] },
  ],
  [
    'a missing tag',
    [{ type: 'tag_missing', at: 0, tag_key: 'Meta', events: ['purchase'] }],
    { missing: [{ tag: 'Meta', events: ['purchase'] }] },
  ],
  ['a slow tag, which loses nothing', [{ type: 'tag_latency', at: 0, tag_key: 'Meta' }], null],
  ['a missing field, which is no event', [{ type: 'user_data_quality', at: 0, field: 'email' }], null],
  ['too many events', [{ type: 'data_volume', at: 0, surge: true }], null],
  ['a check of our own that cannot be made', [{ type: 'http_health', at: 0, check: true }], null],
  ['what a later version found', [{ type: 'novel', at: 0 }], null],
]
for (const [what, faults, expected] of AFFECTED) {
  test(`what may be lost by ${what}`, () => {
    const found = faultsOf(...faults)
    if (expected === null) assert.equal(found, null)
    else assert.partialDeepStrictEqual(found, expected)
  })
}

test('it is counted from the first sign to the last end, or until now', () => {
  const [lasting, over] = [
    faultsOf({ type: 'data_freshness', at: 20, ended: 60 }, { type: 'http_health', at: 5 }),
    faultsOf({ type: 'data_freshness', at: 20, ended: 60 }, { type: 'http_health', at: 5, ended: 40 }),
  ]
  assert.deepEqual([lasting?.from, lasting?.to], [time(5), NOW])
  assert.deepEqual([over?.from, over?.to], [time(5), time(60)])
})

function costs(faults: readonly Fault[], counts: LossCounts, final = false): Impact | null {
  const affected = faultsOf(...faults) ?? assert.fail('nothing is lost')
  return impactOf(affected, counts, KEY, final)
}
const SILENT: Fault = { type: 'data_freshness', at: 0 }
const FAILING: Fault = { type: 'tag_failure_rate', at: 0, tag_key: 'Meta' }
const MISSING: Fault = { type: 'tag_missing', at: 0, tag_key: 'Meta', events: ['purchase'] }

const SAID: readonly [
  what: string,
  faults: readonly Fault[],
  counts: LossCounts,
  summary: string | null,
  share: number | null,
][] = [
  [
    'a silence, by the purchases',
    [SILENT],
    countsOf({ all: about(2_000, 3_000), purchase: about(267, 425) }),
    'about 267 of 425 purchases (63 %)',
    0.667,
  ],
  [
    'a silence of a site without purchases, by its events',
    [SILENT],
    countsOf({ all: about(2_000, 3_000) }),
    'about 2,000 of 3,000 events (67 %)',
    0.667,
  ],
  [
    'what is uncertain, with its range',
    [SILENT],
    countsOf({ all: about(2_000, 3_000), purchase: about(10, 20, 6) }),
    'about 10 of 20 purchases (50 %; between 4 and 16)',
    0.667,
  ],
  [
    'key events by any spelling, the most important first',
    [SILENT],
    countsOf({ all: about(200, 300), beginCheckout: about(60, 100), Purchase: about(0, 40, 5) }),
    'about 60 of 100 “beginCheckout” events (60 %)',
    0.667,
  ],
  [
    'a server that fails while the events come: nothing for certain',
    [{ type: 'http_health', at: 0 }],
    countsOf({ all: about(20, 1_000, 90), purchase: about(0, 40, 9) }),
    null,
    0.02,
  ],
  [
    'an event, with its share of the site',
    [{ type: 'data_volume', at: 0, event_name: 'search' }],
    countsOf({ search: about(90, 100) }),
    'about 90 of 100 events (90 %)',
    0.09,
  ],
  [
    'two events, whose errors partly cancel each other',
    [
      { type: 'data_volume', at: 0, event_name: 'a' },
      { type: 'data_volume', at: 0, event_name: 'b' },
    ],
    countsOf({ a: about(40, 50, 30), b: about(40, 50, 30) }),
    'about 80 of 100 events (80 %; between 38 and 122)',
    0.08,
  ],
  [
    'a failing tag, counted, by what failed on purchases',
    [FAILING],
    countsOf(
      {},
      {
        tags: new Map([
          [
            'Meta',
            {
              executions: 500,
              bad: 100,
              onEvents: new Map([
                ['purchase', ran(60, 24)],
                ['page_view', ran(540, 96)],
              ]),
            },
          ],
        ]),
      },
    ),
    '20 of 50 tag executions on purchases (40 %)',
    0.02,
  ],
  [
    'a tag that fails on purchases alone, and began to late in the hour: never more than ran',
    [FAILING],
    countsOf(
      {},
      {
        tags: new Map([
          [
            'Meta',
            {
              executions: 100,
              bad: 60,
              onEvents: new Map([
                ['purchase', ran(100, 60)],
                ['page_view', ran(900, 0)],
              ]),
            },
          ],
        ]),
      },
    ),
    '60 of 62 tag executions on purchases (97 %)',
    0.012,
  ],
  [
    'a failing tag of a site that sends batches',
    [FAILING],
    countsOf({}, { tags: new Map([['Meta', { executions: 500, bad: 100, onEvents: new Map() }]]) }),
    '100 of 500 tag executions (20 %)',
    0.02,
  ],
  [
    'a tag that does not run on purchases',
    [MISSING],
    countsOf(
      {},
      {
        tags: new Map([
          [
            'Meta',
            {
              executions: 300,
              bad: 0,
              onEvents: new Map([
                ['purchase', ran(0, 0, { occurrences: 80 })],
                ['page_view', ran(300, 0)],
              ]),
            },
          ],
        ]),
      },
    ),
    '80 of 80 tag executions on purchases (100 %)',
    0.016,
  ],
]
for (const [what, faults, counts, summary, share] of SAID) {
  test(`it says of ${what}`, () => {
    const impact = costs(faults, counts) ?? assert.fail('nothing is known')
    assert.equal(lossInWords(impact), summary)
    assert.equal(impact.share, share)
    assert.ok(impact.estimate.endsWith('.'), impact.estimate)
  })
}

test('of a site without data nothing is known, nor of a tag that no row has', () => {
  const nothing = countsOf({}, { names: [], events: () => null, executions: 0 })
  assert.equal(costs([SILENT], nothing), null)
  assert.equal(costs([FAILING], nothing), null)
})

test('how it was found out is said, and what is counted has no range', () => {
  const tags = new Map([['Meta', { executions: 500, bad: 100, onEvents: new Map() }]])
  const impact = costs(
    [FAILING, { type: 'data_volume', at: 0, event_name: 'a' }],
    countsOf({ a: about(40, 50) }, { tags }),
    true,
  )
  assert.equal(
    impact?.estimate,
    'Expected: the usual share of these events among those that came. The range allows for chance and for the usual variation of the counts. Failed executions are counted.',
  )
  assert.deepEqual([impact?.executions, impact?.final], [counted(100, 500), true])
})

test('a vendor costs the sum of what its sites lost, and names none of them', () => {
  const ofSite = (bad: number): Impact => {
    const onEvents = new Map([
      ['purchase', ran(50, bad / 10)],
      ['page_view', ran(450, bad - bad / 10)],
    ])
    return (
      costs([FAILING], countsOf({}, { tags: new Map([['Meta', { executions: 500, bad, onEvents }]]) }), true) ??
      assert.fail()
    )
  }
  const together = togetherOf([ofSite(100), ofSite(300)])
  assert.deepEqual([together?.sites, together?.executions, together?.share], [2, counted(400, 1_000), null])
  assert.deepEqual(together?.key_executions, [{ event_name: 'purchase', ...counted(40, 100) }])
  assert.equal(together === null ? null : lossInWords(together), '40 of 100 tag executions on purchases (40 %)')
  assert.equal(togetherOf([]), null)
})
