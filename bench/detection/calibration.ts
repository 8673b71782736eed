import { parseArgs } from 'node:util'
import {
  DATA_FRESHNESS_DEFAULTS,
  DATA_VOLUME_DEFAULTS,
  dataFreshness,
  dataVolume,
  localTime,
  type Verdict,
} from '../../src/detection/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { markdownTable } from '../lib/table.ts'
import { type Alarm, AlarmLog } from './alarms.ts'
import { intervalOf } from './bootstrap.ts'
import { type SiteHistory, simulate } from './history.ts'
import { volumeInputs } from './inputs/volume.ts'
import { randomSite } from './profile.ts'
import { Random } from './random.ts'
import { learntEvery } from './replay.ts'
import { WORLDS, type World } from './site.ts'
import { cleanVisitorHistory } from './visitors/site.ts'
import { RUN_EVERY, SLOTS, SLOTS_A_DAY, timeOf } from './world.ts'

const HELP = `Counts the false alarms of the probes of volume on sites on which nothing is wrong and nothing special happens, by budget.

  node bench/detection/calibration.ts [options]

  --world NAME   how traffic is made: counts, or visitors (visitors)
  --sites N      (60)
  --seed N       where their random numbers begin (1000; detectors are tuned on seeds below 1000 only)
  --every N      minutes between two runs (5)
  --minutes N    begins no site after so many minutes (60)
  --list         name every alarm
  --write        put the results into bench/RESULTS.md
`

const BUDGETS = [0.1, 0.5, 2] as const
/** "About so many" is within this factor. */
const FACTOR = 1.5
/** Four weeks are past for the detectors, four are judged. */
const FIRST = 28 * SLOTS_A_DAY
const MONTHS_A_SITE = (SLOTS - FIRST) / SLOTS_A_DAY / 30

const { values: options } = parseArgs({
  options: {
    world: { type: 'string', default: 'visitors' },
    sites: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1000' },
    every: { type: 'string', default: `${RUN_EVERY}` },
    minutes: { type: 'string', default: '60' },
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/**
 * By default a fall is reported only where it is large and a silence only where some visits are missing, whatever the budget; with chance alone the budget is all that
 * holds alarms back.
 */
const RULES = {
  'by default': {},
  'by chance alone': { warning_ratio: 1, warning_z: 0, min_expected: 1 },
} as const
type Rule = keyof typeof RULES

/** Of one site, by rule and budget. */
type Counted = ReadonlyMap<string, readonly Alarm[]>

interface Setting {
  readonly rule: Rule
  readonly budget: number
}

/** The loosest first. */
const SETTINGS: readonly Setting[] = (['by chance alone', 'by default'] as const).flatMap((rule) =>
  BUDGETS.toSorted((a, b) => b - a).map((budget) => ({ rule, budget })),
)
const keyOf = ({ rule, budget }: Setting): string => `${rule} ${budget}`

function measure(): void {
  const world = WORLDS.find((name) => name === options.world)
  if (world === undefined) throw new Error(`--world ${options.world}: ${WORLDS.join(' or ')}`)
  const sites = wholeNumber('--sites', options.sites, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const every = wholeNumber('--every', options.every, 1)
  const last = performance.now() + wholeNumber('--minutes', options.minutes, 1) * 60_000
  const counted: Counted[] = []
  for (let index = 0; index < sites && performance.now() < last; index++) {
    const history = cleanHistory(world, new Random(seed * 1_000 + index), index)
    const alarms = alarmsBySetting(history, every)
    counted.push(alarms)
    if (options.list) list(history, alarms)
    if (counted.length % 10 === 0) process.stderr.write(`  ${counted.length} of ${sites} sites\n`)
  }
  const months = counted.length * MONTHS_A_SITE
  const settings = `Traffic of ${world}; ${counted.length} sites of seed ${seed} with their usual events only, four weeks judged after four weeks of past (${months.toFixed(0)} site-months), runs every ${every} min.`
  const header = runHeader('Calibration of the budget', settings, [])
  const text = tableOf(counted)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

/** A site without faults, holidays, campaigns, and old enough to be known. */
function cleanHistory(world: World, random: Random, index: number): SiteHistory {
  if (world === 'visitors') return cleanVisitorHistory(random, index)
  const site = { ...randomSite(random, index), holidays: new Map(), sales: new Map(), bornOn: 0 }
  return simulate(site, [], random, 'volume')
}

/** What is unusual for a budget is so for every larger one: the others are only tried where the loosest setting gives an alarm. */
function alarmsBySetting(history: SiteHistory, every: number): Counted {
  const inputs = volumeInputs(history, localTime(history.site.timezone), learntEvery(every))
  const logs = SETTINGS.map((setting) => ({ setting, log: new AlarmLog() }))
  for (let slot = FIRST; slot < SLOTS; slot += every) {
    const counts = inputs(slot)
    const now = timeOf(slot)
    judge('data_volume', slot, logs, ({ rule, budget }) =>
      dataVolume(counts, { ...DATA_VOLUME_DEFAULTS, ...RULES[rule], false_alarms: budget }),
    )
    judge('data_freshness', slot, logs, ({ budget }) =>
      dataFreshness({ now, ...counts, outages: [] }, { ...DATA_FRESHNESS_DEFAULTS, false_alarms: budget }),
    )
  }
  return new Map(logs.map(({ setting, log }) => [keyOf(setting), log.finish(SLOTS)] as const))
}

function judge(
  probe: string,
  slot: number,
  logs: readonly { readonly setting: Setting; readonly log: AlarmLog }[],
  verdictAt: (setting: Setting) => Verdict,
): void {
  const [loosest] = SETTINGS
  if (loosest === undefined) return
  const first = verdictAt(loosest)
  for (const { setting, log } of logs) {
    log.add(probe, slot, first.status === 'ok' || setting === loosest ? first : verdictAt(setting))
  }
}

function tableOf(counted: readonly Counted[]): string {
  const rows = ['data_volume', 'data_freshness'].flatMap((probe) =>
    SETTINGS.filter(({ rule }) => probe === 'data_volume' || rule === 'by default').map((setting) => {
      const { rule, budget } = setting
      const rateOf = (sample: readonly Counted[]): number =>
        sample.reduce((sum, alarms) => sum + alarmsOf(alarms, setting, probe).length, 0) /
        (sample.length * MONTHS_A_SITE)
      const { low, high } = intervalOf(counted, rateOf)
      const all = counted.flatMap((alarms) => alarmsOf(alarms, setting, probe))
      const rate = rateOf(counted)
      const part = (of: (alarm: Alarm) => boolean) => `${all.filter(of).length}`
      return [
        probe,
        rule,
        `${budget}`,
        rate.toFixed(2),
        `${low.toFixed(2)}–${high.toFixed(2)}`,
        part((alarm) => isOfSite(alarm) && isSilence(alarm)),
        part((alarm) => isOfSite(alarm) && !isSilence(alarm)),
        part((alarm) => !isOfSite(alarm) && isSilence(alarm)),
        part((alarm) => !isOfSite(alarm) && !isSilence(alarm)),
        rate <= FACTOR * budget ? (rate >= budget / FACTOR ? 'yes' : 'fewer') : 'no',
      ]
    }),
  )
  return markdownTable(
    [
      'probe',
      'judged',
      'budget',
      'false alarms a site and month',
      '95 % interval',
      'site: silence',
      'site: fall',
      'events: silence',
      'events: fall',
      `within a factor of ${FACTOR}`,
    ],
    rows,
  )
}

const alarmsOf = (alarms: Counted, setting: Setting, probe: string): Alarm[] =>
  (alarms.get(keyOf(setting)) ?? []).filter((alarm) => alarm.probe === probe)
const isOfSite = ({ subject }: Alarm): boolean => subject === 'site'
const isSilence = ({ message }: Alarm): boolean => message.startsWith('no')

function list({ site }: SiteHistory, alarms: Counted): void {
  const [loosest] = SETTINGS
  if (loosest === undefined) return
  for (const { probe, from, to, subject, message } of alarms.get(keyOf(loosest)) ?? []) {
    const isIn = (setting: Setting) =>
      alarmsOf(alarms, setting, probe).some((one) => one.subject === subject && one.from <= to && one.to >= from)
    process.stdout.write(
      `${site.name} (${site.daily.toFixed(0)}): ${probe} on ${subject} in slots ${from}–${to}, ${SETTINGS.filter(isIn).map(keyOf).join(', ')}: ${message}\n`,
    )
  }
}

if (options.help) process.stdout.write(HELP)
else measure()
