import { parseArgs } from 'node:util'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  hasBrokenOff,
  localTime,
  type OpenFalls,
  openFalls,
} from '../../src/detection/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { median } from '../lib/statistics.ts'
import { markdownTable } from '../lib/table.ts'
import { type Alarm, AlarmLog } from './alarms.ts'
import { type SiteHistory, simulate } from './history.ts'
import { volumeInputs } from './inputs/volume.ts'
import { randomSite } from './profile.ts'
import { Random } from './random.ts'
import { learntEvery } from './replay.ts'
import { WORLDS, type World } from './site.ts'
import { cleanVisitorHistory } from './visitors/site.ts'
import { FIRST_JUDGED, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from './world.ts'

const HELP = `How often one loss of all events of a site, which lasts for days, opens an alert, and how soon that resolves afterwards.

  node bench/detection/lasting.ts [options]

  --world NAME   how traffic is made: counts, or visitors (visitors)
  --sites N      sites, each with every loss; those with fewer than 100 events a day or in batches are left out (20)
  --days N       how long it lasts (14)
  --seed N       where their random numbers begin (1000; detectors are tuned on seeds below 1000 only)
  --every N      minutes between two runs (15)
`

const LOSSES = [0.2, 0.5, 0.65, 0.8] as const
/** Where fewer come, hardly any loss is found. */
const LEAST_DAILY = 100
/** How long to wait for the end of the alert. */
const WATCHED_AFTER = 3 * SLOTS_A_DAY
/** Events a day up to which a site belongs to a class. */
const CLASSES = [
  ['below 300', 300],
  ['300 to 3,000', 3_000],
  ['3,000 to 30,000', 30_000],
  ['more', Number.POSITIVE_INFINITY],
] as const

interface Outcome {
  readonly loss: number
  readonly rate: string
  /** Alerts of the site that opened while it lasted. */
  readonly openings: number
  /** The share of the fault's time, since it was found, in which an alert was open. */
  readonly open: number
  /** Hours until the alert that was open at its end resolved; null when none was. */
  readonly resolvedAfter: number | null
}

const { values: options } = parseArgs({
  options: {
    world: { type: 'string', default: 'visitors' },
    days: { type: 'string', default: '14' },
    sites: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1000' },
    every: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else measure()

function measure(): void {
  const world = WORLDS.find((name) => name === options.world)
  if (world === undefined) throw new Error(`--world ${options.world}: ${WORLDS.join(' or ')}`)
  const seed = wholeNumber('--seed', options.seed, 0)
  const every = wholeNumber('--every', options.every, 1)
  const days = wholeNumber('--days', options.days, 1)
  const outcomes: Outcome[] = []
  for (let index = 0; index < wholeNumber('--sites', options.sites, 1); index++) {
    const whole = healthy(world, new Random(seed * 1_000 + index), index)
    const daily = whole.total.subarray(0, FIRST_JUDGED).reduce((a, b) => a + b, 0) / (FIRST_JUDGED / SLOTS_A_DAY)
    if (daily < LEAST_DAILY || whole.site.batch > 1) continue
    const rate = CLASSES.find(([, most]) => daily < most)?.[0] ?? 'more'
    for (const loss of LOSSES)
      outcomes.push({ loss, rate, ...outcomeOf(whole, loss, new Random(seed + index), days, every) })
    process.stderr.write(`  ${index + 1} sites\n`)
  }
  const rows = LOSSES.flatMap((loss) =>
    [...CLASSES.map(([name]) => name), 'all'].map((rate) =>
      rowOf(
        loss,
        rate,
        outcomes.filter((one) => one.loss === loss && (rate === 'all' || one.rate === rate)),
      ),
    ),
  )
  const header = [
    'lost',
    'events a day',
    'sites',
    'found',
    'openings of a found loss',
    'time open',
    'resolved after, median',
    'nine of ten',
  ] // prettier
  process.stdout.write(`${markdownTable(header, rows)}\n`)
}

function rowOf(loss: number, rate: string, outcomes: readonly Outcome[]): string[] {
  const found = outcomes.filter(({ openings }) => openings > 0)
  const mean = (of: (one: Outcome) => number) => found.reduce((sum, one) => sum + of(one), 0) / found.length
  const resolved = found.flatMap(({ resolvedAfter }) => resolvedAfter ?? []).toSorted((a, b) => a - b)
  return [
    `${loss * 100} %`,
    rate,
    `${outcomes.length}`,
    `${found.length}`,
    found.length === 0 ? '' : mean(({ openings }) => openings).toFixed(1),
    found.length === 0 ? '' : `${(100 * mean(({ open }) => open)).toFixed(0)} %`,
    resolved.length === 0 ? '' : `${median(resolved).toFixed(1)} h`,
    resolved.length === 0 ? '' : `${(resolved[Math.ceil(resolved.length * 0.9) - 1] ?? 0).toFixed(1)} h`,
  ]
}

function healthy(world: World, random: Random, index: number): SiteHistory {
  if (world === 'visitors') return cleanVisitorHistory(random, index)
  return simulate(
    { ...randomSite(random, index), bornOn: 0, holidays: new Map(), sales: new Map() },
    [],
    random,
    'volume',
  )
}

function outcomeOf(
  whole: SiteHistory,
  loss: number,
  random: Random,
  days: number,
  every: number,
): Pick<Outcome, 'openings' | 'open' | 'resolvedAfter'> {
  const from = FIRST_JUDGED + random.between(0, 3 * SLOTS_A_DAY)
  const to = from + days * SLOTS_A_DAY + random.between(0, SLOTS_A_DAY)
  const total = whole.total.map((count, slot) => (slot < from || slot >= to ? count : random.binomial(count, 1 - loss)))
  const alarms = alarmsOf(
    { ...whole, total, events: new Map([['page_view', total]]) },
    Math.min(SLOTS, to + WATCHED_AFTER),
    every,
  )
  const opened = alarms.filter((alarm) => alarm.from >= from && alarm.from < to)
  const last = alarms.find((alarm) => alarm.from < to && alarm.to >= to)
  const first = opened[0]?.from ?? to
  return {
    openings: opened.length,
    open: opened.reduce((sum, alarm) => sum + Math.min(alarm.to, to) - alarm.from, 0) / Math.max(1, to - first),
    resolvedAfter: last === undefined ? null : (last.to - to) / SLOTS_AN_HOUR,
  }
}

function alarmsOf(history: SiteHistory, until: number, every: number): Alarm[] {
  const inputAt = volumeInputs(history, localTime(history.site.timezone), learntEvery(every))
  const log = new AlarmLog()
  let brokeOffAt: number | null = null
  let open: OpenFalls = new Map()
  for (let slot = FIRST_JUDGED; slot < until; slot += every) {
    const input = inputAt(slot)
    const verdict = dataVolume({ ...input, brokeOffAt, open }, { ...DATA_VOLUME_DEFAULTS, doubled: false })
    if (hasBrokenOff(verdict)) brokeOffAt = timeOf(slot)
    open = openFalls(verdict, open, input.usual)
    log.add('data_volume', slot, verdict)
  }
  return log.finish(until).filter(({ subject }) => subject === 'site')
}
