import { parseArgs } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { PageReader, PROBE_TYPES, type RunTools, runProbe } from '../../src/probes/index.ts'
import type { SiteRow } from '../../src/store/index.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { openOutboundWithoutThread } from '../../testkit/outbound.ts'
import { newProbeRow } from '../../testkit/probes.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { openFolderWithoutThreads } from '../../testkit/sqlite.ts'
import { caveats } from '../lib/machine.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { markdownTable, milliseconds } from '../lib/table.ts'
import { type SiteSize, writePast } from './site.ts'

const HELP = `Measures what a run of each probe of ingested data costs: the processor time of reading and judging, in one thread.

  node bench/judging/run.ts [options]

  --hours N      of probe time, in which each probe runs every five minutes (3)
  --write        put the results into bench/RESULTS.md
`

/** A shop, and the largest that is taken for usual. */
const SIZES: readonly (SiteSize & { name: string })[] = [
  { name: '6 events, 12 tags', events: 6, tags: 12, eventsOfTag: 3, eventsAMinute: 4 },
  { name: '40 events, 60 tags', events: 40, tags: 60, eventsOfTag: 10, eventsAMinute: 2 },
]
const NEVER = new AbortController().signal
const INTERVAL_MS = 5 * MINUTE
const TYPES = PROBE_TYPES.filter(
  ({ kind, needs, autoNeeds }) => kind === 'data' && needs.length === 0 && autoNeeds !== null,
)

const { values: options } = parseArgs({
  options: {
    hours: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const hours = wholeNumber('--hours', options.hours, 1)
  const dataDir = session.newFolder('data')
  await importSites(dataDir, SIZES.length)
  const store = await openFolderWithoutThreads(dataDir)
  try {
    // Probes run up to now: what they judge has to be there.
    const end = floorTo(Date.now(), MINUTE)
    const sites = await store.read.selectFrom('sites').selectAll().orderBy('site_no').execute()
    const clock = { now: () => end }
    const tools = {
      store,
      outbound: openOutboundWithoutThread({ allow: { ranges: [], hosts: [] }, userAgent: 'bench', clock }),
      pages: new PageReader(),
      settings: readConfig({}),
      retryAfterMs: 0,
    }
    const costs = new Map<string, number[]>(TYPES.map(({ name }) => [name, []]))
    for (const [index, size] of SIZES.entries()) {
      const site = sites[index]
      if (site === undefined) throw new Error('a site is missing')
      process.stderr.write(`  writes the past of ${size.name}\n`)
      await writePast(store, site.site_no, size, end)
      // In turn, as the service runs them: what one has read, another may use.
      const spent = await runsOf(tools, site, end - hours * HOUR, end)
      for (const [name, ms] of spent) costs.get(name)?.push(ms)
    }
    const settings = `Each probe every five minutes for ${hours} h, one after the other.`
    const header = runHeader('Judging', settings, caveats(session.pins, session.folder))
    const text = tableOf(costs)
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
  } finally {
    await store.close()
  }
}

/** Processor time of a run of each type, ms. */
async function runsOf(
  tools: Omit<RunTools, 'clock'>,
  site: SiteRow,
  from: number,
  to: number,
): Promise<Map<string, number>> {
  const spent = new Map<string, number>()
  const probes = TYPES.map((type) => ({ type, row: newProbeRow(site.id, { probe_type: type.name }) }))
  let runs = 0
  for (let now = from; now < to; now += INTERVAL_MS) {
    runs++
    for (const { type, row } of probes) {
      const before = process.cpuUsage()
      const run = await runProbe({ ...tools, clock: { now: () => now } }, type, row, site, NEVER)
      const { user, system } = process.cpuUsage(before)
      if (run?.outcome.status !== 'ok') throw new Error(`${type.name} found: ${run?.outcome.message}`)
      spent.set(type.name, (spent.get(type.name) ?? 0) + (user + system) / 1_000)
    }
  }
  return new Map(Array.from(spent, ([name, ms]) => [name, ms / runs]))
}

function tableOf(costs: ReadonlyMap<string, readonly number[]>): string {
  const sums = SIZES.map((_, index) => [...costs.values()].reduce((sum, of) => sum + (of[index] ?? 0), 0))
  const rows = [...costs].map(([name, of]) => [name, ...of.map(milliseconds)])
  return markdownTable(
    ['probe', ...SIZES.map(({ name }) => name)],
    [...rows, ['all of a site', ...sums.map(milliseconds)]],
  )
}
