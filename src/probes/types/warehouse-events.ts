import { floorTo, MINUTE } from '../../lib/index.ts'
import { GoogleFailure } from '../google/failure.ts'
import { serviceAccountOf } from '../google/service-account.ts'
import { areNames, openWarehouse, type TableFacts } from '../google/warehouse.ts'
import { defineProbeType, type JsonObject, type ProbeContext, type ProbeOutcome } from '../probe-type.ts'
import { eventsIn, LEFT_OUT_SHARE, uncountedIn } from '../warehouse-events/our-counts.ts'
import {
  expectedRows,
  judgeIntraday,
  judgeMissing,
  judgeRows,
  type Part,
  reconcile,
  withExpected,
  withRatio,
} from '../warehouse-events/parts.ts'
import {
  Config,
  checkConfig,
  latestDays,
  localDay,
  type Memory,
  readMemory,
  type Settings,
  timeAfter,
} from '../warehouse-events/settings.ts'
import { intradayName, newestTable, type ReadDay, type Run, readDay, usualRows } from '../warehouse-events/tables.ts'

/** How many days after the last intraday table another one is expected. */
const INTRADAY_USUAL_DAYS = 3

export const warehouseEvents = defineProbeType({
  name: 'warehouse_events',
  title: 'Events in the warehouse',
  description:
    'Whether the analytics export arrives in BigQuery: the daily table, the intraday one, as many rows as usual, and how they compare with the counts here.',
  kind: 'wire',
  siteFields: ['warehouse_project', 'warehouse_dataset', 'timezone'],
  needs: [['warehouse_project', 'warehouse_dataset']],
  config: Config,
  checkConfig,
  defaultIntervalSeconds: 1_800,
  async run(context: ProbeContext<Settings>) {
    try {
      return await check(context)
    } catch (thrown) {
      if (!(thrown instanceof GoogleFailure)) throw thrown
      const { reason, facts, message } = thrown
      return {
        status: 'error',
        message,
        details: { reason, status: facts.status ?? null, said: facts.said ?? null },
        isNetworkFailure: facts.isNetworkFailure === true,
      }
    }
  },
})

async function check(context: ProbeContext<Settings>): Promise<ProbeOutcome> {
  const { site, config, settings, now } = context
  const project = site.warehouse_project ?? ''
  const dataset = site.warehouse_dataset ?? ''
  const account = serviceAccountOf(settings)
  if (!areNames(project, dataset)) {
    throw new GoogleFailure(
      'bad_request',
      `${project}.${dataset} cannot be a dataset: check the site's warehouse fields`,
    )
  }
  const began = performance.now()
  const name = `${project}.${dataset}`
  const timezone = config.timezone ?? site.timezone
  const warehouse = openWarehouse(account, settings.warehouseApiUrl, { project, dataset }, context)
  const run: Run = { context, warehouse, timezone, memory: readMemory(context.memory, name) }

  const [yesterday, dayBefore, intraday] = await Promise.all([
    readDay(run, localDay(timezone, now, 1)),
    readDay(run, localDay(timezone, now, 2)),
    warehouse.table(intradayName(localDay(timezone, now, 0))),
  ])
  if ([yesterday.facts, dayBefore.facts, intraday].every((facts) => facts === null)) await warehouse.requireDataset()

  const latest = [yesterday, dayBefore].find(({ facts }) => facts !== null)
  const older = dayBefore.facts === null ? await newestTable(run) : dayBefore.table
  const hasBegun = older !== null || (await hasBegunBefore(run, yesterday, intraday))
  const missing = hasBegun ? [yesterday, dayBefore].filter(({ facts }) => facts === null) : []
  const rows = { ...run.memory.rows }
  const events = latest === undefined ? null : await checkEvents(run, latest)
  const counts = latest === undefined ? null : await checkCounts(run, latest)
  const parts = {
    missing: missing.map((day) => judgeMissing(day, timezone, config.daily_deadline, now)),
    daily: latest === undefined ? null : await checkRows(run, latest, rows),
    intraday: await checkIntraday(run, intraday, latest, rows),
    required_events: events?.part ?? null,
    reconciliation: counts?.part ?? null,
  }
  const memory: Memory = {
    dataset: name,
    rows: latestDays(rows),
    ratios: counts?.ratios ?? run.memory.ratios,
    counted: events?.counted ?? run.memory.counted,
    lastIntraday: intraday === null ? run.memory.lastIntraday : localDay(timezone, now, 0).suffix,
  }
  return {
    ...outcomeOf(parts, { dataset: name, timezone, newest_daily_table: latest?.table ?? older }),
    memory: memory as unknown as JsonObject,
    responseTimeMs: performance.now() - began,
  }
}

async function checkRows(run: Run, latest: ReadDay, known: Record<string, number>): Promise<Part> {
  const history = await usualRows(run, latest.day, known)
  return judgeRows({ ...latest, rows: latest.rows ?? 0 }, history, run.context.config)
}

async function checkEvents(
  run: Run,
  { table, facts, day }: ReadDay,
): Promise<{ part: Part; counted?: Memory['counted'] } | null> {
  const { required_events: required, max_query_mb: megabytes } = run.context.config
  if (required.length === 0 || facts === null || facts.rows === 0) return null
  const before = run.memory.counted
  const isKnown =
    before?.table === table &&
    before.modifiedAt === facts.modifiedAt &&
    required.every((event) => event in before.counts)
  try {
    const counted = isKnown
      ? before
      : {
          table,
          modifiedAt: facts.modifiedAt,
          ...(await run.warehouse.countEvents(table, required, megabytes * 1_048_576)),
        }
    const absent = required.filter((event) => counted.counts[event] === 0)
    const details = { table, day: day.date, counts: counted.counts, absent, bytes_read: counted.bytes }
    const message = `${table} has no ${absent.join(', ')}, which every day must have`
    const part: Part =
      absent.length === 0
        ? { status: 'ok', message: '', details }
        : { status: 'critical', message, details: { ...details, reason: 'required_events_absent' } }
    return { part, counted }
  } catch (thrown) {
    if (!(thrown instanceof GoogleFailure)) throw thrown
    const { reason, facts: said, message } = thrown
    return {
      part: {
        status: 'error',
        message: `The required events were not counted: ${message}`,
        details: { table, reason, status: said.status ?? null, said: said.said ?? null },
      },
    }
  }
}

async function checkCounts(
  { context, memory }: Run,
  { day, rows }: ReadDay,
): Promise<{ part: Part; ratios: Memory['ratios'] }> {
  const { store, site } = context
  const ours = await eventsIn(store, site.site_no, { from: day.start, to: day.end })
  const leftOut = await uncountedIn(store, site, { from: day.start, to: day.end })
  if (leftOut > LEFT_OUT_SHARE * (day.end - day.start)) {
    const details = { day: day.suffix, warehouse: rows ?? 0, ours, ratio: null, left_out_ms: leftOut }
    return { part: { status: 'ok', message: '', details }, ratios: memory.ratios }
  }
  const ratios = withRatio(memory.ratios, day.suffix, rows ?? 0, ours)
  return { part: reconcile(day.suffix, rows ?? 0, ours, ratios), ratios }
}

async function checkIntraday(
  run: Run,
  table: TableFacts | null,
  latest: ReadDay | undefined,
  known: Record<string, number>,
): Promise<Part | null> {
  const { context, timezone, memory } = run
  const { config, now } = context
  const today = localDay(timezone, now, 0)
  const { lastIntraday } = memory
  const stream = {
    table: intradayName(today),
    // While rows are in the streaming buffer, the table's own modification time stays the same.
    freshAt: table === null ? null : Math.max(table.modifiedAt, table.bufferedSince ?? 0),
    isUsual: lastIntraday !== null && lastIntraday >= localDay(timezone, now, INTRADAY_USUAL_DAYS).suffix,
    activeFrom: timeAfter(timezone, today.start, `${config.active_from_hour}:00`),
    activeTo: timeAfter(timezone, today.start, `${config.active_to_hour}:00`),
  }
  const part = judgeIntraday(stream, now)
  if (part === null || part.status === 'ok') return part
  const history = await usualRows(run, today, known)
  const since = floorTo(Math.max(stream.freshAt ?? 0, stream.activeFrom), MINUTE)
  const expected = expectedRows(stream, now, {
    // Until a table of the same weekday is known, the newest one has to do.
    ofDay: history?.length === 0 && latest?.rows != null ? [latest.rows] : history,
    ratios: Object.values(memory.ratios),
    ours: await eventsIn(context.store, context.site.site_no, { from: since, to: floorTo(now, MINUTE) }),
  })
  return withExpected(part, expected, config.min_expected_rows)
}

/** For an export without an older table, returns whether one was due: not before the first table, nor on the day a stream began. */
async function hasBegunBefore(run: Run, yesterday: ReadDay, intraday: TableFacts | null): Promise<boolean> {
  if (yesterday.facts !== null) return false
  return intraday === null || (await run.warehouse.table(intradayName(yesterday.day))) !== null
}

type Parts = Readonly<Record<string, Part | readonly Part[] | null>>

/** An `error` comes after findings: a part that could not be checked must not hide what another found. */
const WORST_FIRST: readonly Part['status'][] = ['critical', 'warning', 'error', 'ok']

/** The worst part determines the status and comes first; other bad parts follow. */
function outcomeOf(parts: Parts, facts: JsonObject): ProbeOutcome {
  const all = Object.values(parts).flatMap((part) => part ?? [])
  const sorted = all.toSorted((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status))
  const status = sorted[0]?.status ?? 'ok'
  const named = sorted.filter((part) => part.message !== '' && (status === 'ok' || part.status !== 'ok'))
  const shown = (part: Part) => ({ status: part.status, ...part.details })
  return {
    status,
    message: named.map(({ message }) => message).join('; '),
    details: {
      ...facts,
      ...Object.fromEntries(
        Object.entries(parts).map(([name, part]) => {
          if (part === null) return [name, null]
          return [name, 'status' in part ? shown(part) : part.map(shown)]
        }),
      ),
    },
  }
}
