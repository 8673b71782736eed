import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { addLog, appendPayload, Delta, type EventPayload, Folder, type Log } from '../../src/journal/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, GRAIN, MINUTE_TABLES, PAIR_HOUR_DAYS } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { event } from '../../testkit/payloads.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { openFolderWithoutThreads } from '../../testkit/sqlite.ts'
import { numbered } from '../lib/history.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { grouped, markdownTable } from '../lib/table.ts'

const HELP = `Measures what a day of one busy site takes on the disk of the embedded store: as it ages: rolled up, its minutes by fives, without them, and with events and tags by days.

  node bench/disk/run.ts [options]

  --events N     kinds of events, each in every minute (20)
  --tags N       tags, each on every event (30)
  --write        put the results into bench/RESULTS.md
`

const RETENTION = { minuteDays: 7, hourDays: 400 }
/** Days after which pairs of event and tag are added up by days: reports stop reading their hours a little before. */
const PAIR_DAYS_FROM = PAIR_HOUR_DAYS + 3
const TABLES = [...MINUTE_TABLES, 'event_tag_rollups'] as const

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '20' },
    tags: { type: 'string', default: '30' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const events = numbered('event', wholeNumber('--events', options.events, 1))
  const tags = numbered('Vendor tag', wholeNumber('--tags', options.tags, 1))
  const dataDir = session.newFolder('data')
  await importSites(dataDir, 1)
  const store = await openFolderWithoutThreads(dataDir)
  try {
    const start = floorTo(Date.now(), DAY) - 30 * DAY
    const empty = await bytesOf(store)
    await sendDay(store, start, events, tags)
    const sizes: Aged[] = [{ name: 'as it is counted', days: 0, bytes: await bytesOf(store) }]
    const settled = start + DAY + 2 * HOUR
    await rollUpAll(store, settled)
    await rollUpAll(store, settled + DAY)
    sizes.push({ name: 'rolled up', days: 2, bytes: await bytesOf(store) })
    const fives = await timeOf(() => applyRetention(store, RETENTION, start + 5 * DAY, () => true))
    sizes.push({ name: 'after two days, by fives', days: RETENTION.minuteDays - 2, bytes: await bytesOf(store) })
    await applyRetention(store, RETENTION, start + 9 * DAY, () => true)
    const hours = PAIR_DAYS_FROM - RETENTION.minuteDays
    sizes.push({ name: 'after seven days, by hours', days: hours, bytes: await bytesOf(store) })
    const days = await timeOf(() => applyRetention(store, RETENTION, start + (PAIR_DAYS_FROM + 1) * DAY, () => true))
    const rest = RETENTION.hourDays - PAIR_DAYS_FROM
    sizes.push({ name: `after ${PAIR_DAYS_FROM} days, pairs by days`, days: rest, bytes: await bytesOf(store) })
    for (const { bytes } of sizes) bytes.file -= empty.file
    const header = runHeader(
      'Disk',
      `One site, ${tags.length} tags on each of ${events.length} kinds of events, in every minute of a day.`,
      [
        `Adding up a day's minutes by fives took ${fives} of processor time, its pairs of event and tag by days ${days}.`,
        `${RETENTION.hourDays} days, each as large as its age says, take ${megabytes(allDays(sizes))}; with pairs by hours throughout ${megabytes(allDays(withoutPairDays(sizes)))}.`,
      ],
    )
    const text = tableOf(sizes)
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
  } finally {
    await store.close()
  }
}

async function timeOf(work: () => Promise<void>): Promise<string> {
  const spent = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(spent)
  return `${grouped((user + system) / 1e3)} ms`
}

/** What a day takes once it is so old, and how many of the days that are kept are. */
interface Aged {
  name: string
  days: number
  bytes: Sizes
}

function allDays(sizes: readonly Aged[]): number {
  return sizes.reduce((sum, { days, bytes }) => sum + days * bytes.file, 0)
}

/** As if the oldest days were as large as those before them. */
function withoutPairDays(sizes: readonly Aged[]): Aged[] {
  const hours = sizes.at(-2)?.bytes
  return sizes.map((aged, index) =>
    index === sizes.length - 1 && hours !== undefined ? { ...aged, bytes: hours } : aged,
  )
}

function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`
}

/** Counts an event of each kind in every minute of a day, with all that it can report. */
async function sendDay(store: Store, start: number, events: readonly string[], tags: readonly string[]): Promise<void> {
  const { site_no, client_id } = await store.read
    .selectFrom('sites')
    .select(['site_no', 'client_id'])
    .executeTakeFirstOrThrow()
  // In one piece: a fold that is cut writes how far it got into the journal, which is passed over here.
  const folder = new Folder(store, () => client_id, {
    heavySite: Number.POSITIVE_INFINITY,
    rowsPerChunk: Number.POSITIVE_INFINITY,
  })
  for (let hour = start; hour < start + DAY; hour += HOUR) {
    const delta = new Delta()
    for (let minute = hour; minute < hour + HOUR; minute += MINUTE) {
      const log: Log = []
      for (const event_name of events) appendPayload(log, site_no, payloadOf(minute, event_name, tags), minute)
      addLog(delta, log)
    }
    await folder.fold({
      nodeId: 'bench',
      firstSeq: 1,
      lastSeq: 0,
      journalRows: 0,
      writtenAt: 0,
      delta,
      siteCursor: null,
    })
  }
}

function payloadOf(time: number, event_name: string, tags: readonly string[]): EventPayload {
  return event(time, {
    event_name,
    tags: tags.map((name, index) => ({
      id: String(index),
      name,
      status: 'success',
      execution_time: 20 + (time % 7) * 40,
      response: '2xx',
    })),
    user_data: { has_email: true, has_phone: true },
    ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: true },
    consent: {
      ad_storage: 'granted',
      analytics_storage: 'granted',
      ad_user_data: 'granted',
      ad_personalization: 'granted',
    },
    identifiers: { has_event_id: true, has_client_id: true, has_fbp: true, has_ip: true, has_user_agent: true },
  })
}

/** Bytes of the pages that each grain's rows are in, and of the file. */
interface Sizes {
  /** Parts and rows. Until an hour is rolled up, its parts hold its events × tags as well. */
  minutes: number
  hours: number
  days: number
  /** Without the pages that are free for what comes next. */
  file: number
}

async function bytesOf(store: Store): Promise<Sizes> {
  const sizes = { minutes: 0, hours: 0, days: 0, file: 0 }
  const pagesOf = async (table: string): Promise<number> => {
    const { rows } = await sql<{
      bytes: number | null
    }>`select sum(pgsize) as bytes from dbstat where name = ${table}`.execute(store.read)
    return rows[0]?.bytes ?? 0
  }
  sizes.minutes = await pagesOf('minute_parts')
  for (const table of TABLES) {
    const pages = await pagesOf(table)
    const { rows } = await sql<{ grain: number; count: number }>`
      select grain, count(*) as count from ${sql.table(table)} group by grain`.execute(store.read)
    // Rows of all grains are about as long.
    const all = rows.reduce((sum, { count }) => sum + count, 0)
    const bytes = (grain: number) => (pages * (rows.find((row) => row.grain === grain)?.count ?? 0)) / Math.max(1, all)
    sizes.minutes += bytes(GRAIN.minute)
    sizes.hours += bytes(GRAIN.hour)
    sizes.days += bytes(GRAIN.day)
  }
  const { rows } = await sql<{ used: number }>`
    select (page_count - freelist_count) * page_size as used
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`.execute(store.read)
  sizes.file = rows[0]?.used ?? 0
  return sizes
}

function tableOf(sizes: readonly Aged[]): string {
  const kilobytes = (bytes: number) => `${grouped(bytes / 1_000)} kB`
  const before = sizes.find(({ name }) => name === 'rolled up')?.bytes.file ?? 0
  return markdownTable(
    ['a day of the site', 'minutes', 'hour rows', 'day rows', 'all', 'against rolled up'],
    sizes.map(({ name, bytes: { minutes, hours, days, file } }) => [
      name,
      ...[minutes, hours, days, file].map(kilobytes),
      (file / before).toFixed(2),
    ]),
  )
}
