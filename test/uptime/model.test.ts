import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE, newId } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { budgetOf } from '../../src/uptime/budget.ts'
import { readSiteDays, type SiteDay } from '../../src/uptime/read-days.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testLogic } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { insertProbe, newResultRow } from '../../testkit/probes.ts'
import { Random } from '../../testkit/random.ts'
import { insertSite } from '../../testkit/sites.ts'

/** Everything happens at whole steps, the finest that uptime knows. */
const STEP = 5 * MINUTE
/** Nights in which clocks change, by half an hour and at midnight too, and the end of a month. */
type Night = readonly [timezone: string, around: string]
const NIGHTS: readonly [Night, ...Night[]] = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['America/Santiago', '2026-09-06T04:00:00Z'],
  ['Africa/Cairo', '2026-10-29T21:00:00Z'],
  ['Asia/Kolkata', '2026-02-28T18:30:00Z'],
]

interface Piece {
  from: number
  to: number
}
interface Change {
  at: number
  before: Record<string, unknown>
  after: Record<string, unknown>
}
interface Run {
  at: number
  /** Until it no longer stands. */
  until: number
  intervalMs: number
  isJudged: boolean
  isMaintained: boolean
}
interface History {
  from: number
  now: number
  runs: Run[]
  outages: Piece[]
  alerts: (Piece & { severity: 'critical' | 'warning' | 'check' })[]
}

/** What promises.md says of an instant, looked up in everything that happened. */
function stateAt(at: number, { runs, outages, alerts }: History): keyof SiteDay['times'] {
  const isIn = ({ from, to }: Piece) => from <= at && at < to
  const standing = runs.filter((run) => run.at <= at && at < run.until)
  if (standing.length === 0 || outages.some(isIn)) return 'unknown'
  const newest = Math.max(...runs.filter((run) => run.at <= at).map((run) => run.at))
  const isWork = (run: Run) => {
    const together = runs.filter((other) => other.at === run.at).map(({ intervalMs }) => intervalMs)
    return run.isMaintained && run.at <= at && at < run.at + Math.min(3 * HOUR, ...together)
  }
  const work = runs.filter(isWork)
  const isOver = (since: number) => runs.some((run) => since <= run.at && run.at <= newest && !run.isMaintained)
  if (work.some((run) => !isOver(run.at))) return 'maintenance'
  const open = alerts.filter(isIn).map(({ severity }) => severity)
  if (open.includes('critical')) return 'critical'
  if (open.includes('warning')) return 'warning'
  return open.includes('check') || !standing.some(({ isJudged }) => isJudged) ? 'unknown' : 'ok'
}

async function writeHistory(store: Store, random: Random, timezone: string, around: number) {
  const from = around - DAY
  const now = around + DAY
  const steps = (now - from) / STEP
  const someTime = () => from + Math.floor(random.next() * steps) * STEP
  const piece = (longest: number): Piece => {
    const start = someTime()
    return { from: start, to: start + (1 + Math.floor(random.next() * longest)) * STEP }
  }
  const site = await insertSite(store, { timezone, created_at: from })
  const history: History = { from, now, runs: [], outages: [], alerts: [] }
  const works = [piece(60), piece(30)]
  for (let n = 0; n < 3; n++) await writeProbe(store, random, site.id, history, works, someTime)
  for (const outage of [piece(24), piece(3)]) {
    history.outages.push(outage)
    await store.write
      .insertInto('outages')
      .values({ began_at: outage.from, ended_at: outage.to })
      .onConflict((c) => c.doNothing())
      .execute()
  }
  for (const severity of ['critical', 'critical', 'warning', 'check'] as const) {
    const alert = { ...piece(100), severity }
    history.alerts.push(alert)
    await insertAlert(store, site, alert.from, {
      confirmed_at: alert.from,
      ...(severity === 'check' ? { subject: 'check' } : { severity }),
      ...(alert.to < now ? { state: 'resolved', resolved_at: alert.to } : {}),
    })
  }
  return { site: { ...site, siteNo: site.site_no, lastEventAt: now }, history }
}

const INTERVALS = [300, 900, 3_600, 21_600]

/** A probe that begins, is paused, gets another interval, and may be deleted, with one of the same name after it. */
async function writeProbe(
  store: Store,
  random: Random,
  siteId: string,
  history: History,
  works: readonly Piece[],
  someTime: () => number,
) {
  const intervalOf = () => INTERVALS[Math.floor(random.next() * INTERVALS.length)] ?? 300
  let interval = intervalOf()
  const probe = await insertProbe(store, siteId, {
    id: newId(),
    interval_seconds: interval,
    probe_type: 'data_freshness',
  })
  const removedAt = random.next() < 0.4 ? someTime() : Number.POSITIVE_INFINITY
  const [repaced, paused] = [someTime(), someTime()]
  const resumed = paused + Math.floor(random.next() * 60) * STEP
  const changes: Change[] = []
  const runs: Run[] = []
  let due = someTime()
  let isActive: boolean = true
  for (let at = history.from; at < Math.min(history.now, removedAt); at += STEP) {
    const before: number = interval
    const wasActive: boolean = isActive
    if (at === repaced) interval = intervalOf()
    if (at === paused) isActive = false
    if (at === resumed) isActive = true
    if (before !== interval) {
      changes.push({ at, before: { interval_seconds: before }, after: { interval_seconds: interval } })
      // The one under way stands until what comes next by the new interval.
      for (const run of runs) if (run.until > at) run.until = Math.max(run.until, reach(run.at, interval))
    }
    if (wasActive !== isActive) {
      changes.push({ at, before: { is_active: wasActive }, after: { is_active: isActive } })
      if (!isActive) for (const run of runs) run.until = Math.min(run.until, at)
    }
    if (before !== interval || (isActive && !wasActive))
      due = at + STEP * Math.ceil(random.next() * ((interval * 1000) / STEP))
    if (!isActive || at !== due) {
      if (at >= due) due = at + STEP
      continue
    }
    due = at + interval * 1000
    const isMaintained = works.some(({ from, to }) => from <= at && at < to)
    const isJudged = random.next() < 0.9
    runs.push({ at, until: reach(at, interval), intervalMs: interval * 1000, isMaintained, isJudged })
  }
  for (const run of runs) run.until = Math.min(run.until, removedAt)
  history.runs.push(...runs)
  await store.write
    .updateTable('probes')
    .set({ interval_seconds: interval, is_active: Number(isActive) })
    .where('id', '=', probe.id)
    .execute()
  const rows = runs.map(({ at, isJudged, isMaintained }) =>
    newResultRow(probe.id, at, {
      ...(isJudged ? {} : { reason: 'no_data' }),
      ...(isMaintained ? { maintenance_id: 'planned' } : {}),
    }),
  )
  for (let n = 0; n < rows.length; n += 500)
    await store.write
      .insertInto('probe_results')
      .values(rows.slice(n, n + 500))
      .execute()
  for (const { at, before, after } of changes)
    await store.write
      .insertInto('audit_log')
      .values({
        at,
        actor: 'test',
        action: 'probe.update',
        entity: 'probe',
        entity_id: probe.id,
        client_id: null,
        before: JSON.stringify(before),
        after: JSON.stringify(after),
      })
      .execute()
  if (removedAt < history.now) {
    await store.write.deleteFrom('probes').where('id', '=', probe.id).execute()
    await store.write
      .insertInto('removed_probes')
      .values({
        id: probe.id,
        site_id: siteId,
        probe_type: 'data_freshness',
        interval_seconds: interval,
        removed_at: removedAt,
      })
      .execute()
  }
}

/** The one after the next is due by then, to the exactness of a step, and nothing stands for longer than three hours. */
const reach = (at: number, interval: number) => at + Math.min(2 * interval * 1000 + STEP, 3 * HOUR)

testLogic('every instant of days with any history is what the documentation says of it', async (store) => {
  for (let n = 0; n < amount(3, 120); n++) {
    const [timezone, around] = NIGHTS[n % NIGHTS.length] ?? NIGHTS[0]
    const { site, history } = await writeHistory(store, new Random(n), timezone, Date.parse(around))
    const expected = new Map<string, SiteDay['times']>()
    const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' })
    for (let at = history.from; at < history.now; at += STEP) {
      const day = dayOf.format(at)
      const times = expected.get(day) ?? { ok: 0, warning: 0, critical: 0, maintenance: 0, unknown: 0 }
      times[stateAt(at, history)] += STEP
      expected.set(day, times)
    }
    const days = (await readSiteDays(store.read, [site], history.now)).get(site.id) ?? []
    const found = new Map(days.filter(({ day }) => expected.has(day)).map(({ day, times }) => [day, times]))
    // Of its first day the time before the site was there is unknown, too.
    const [first, part] = [found.values().next().value, expected.values().next().value]
    if (first !== undefined && part !== undefined) part.unknown = first.unknown
    assert.deepEqual(found, expected, `${timezone}, history ${n}`)
    const critical = [...expected.values()].reduce((sum, times) => sum + times.critical, 0)
    assert.equal(budgetOf(99.5, days).spent, critical)
    await store.write.deleteFrom('outages').execute()
  }
})
