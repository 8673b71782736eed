import { parseArgs } from 'node:util'
import { overviewPath } from '../../testkit/api.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { readReports } from '../lib/clients.ts'
import { HISTORY_EVENT_NAMES, HISTORY_TAGS, importHistory } from '../lib/history.ts'
import { caveats } from '../lib/machine.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { type Check, milliseconds, outcomeText } from '../lib/table.ts'

const HELP = `Measures overviews on a store that holds many sites with 50 tags and 40 event names each.

  node bench/reports/run.ts [options]

  --sites N      sites in the store (200: about 2.5 GB, a minute or two to write)
  --seconds N    measured seconds of each report (10)
  --write        put the results into bench/RESULTS.md
`
const WARMUP_MS = 1_000

/** Windows measured, and the longest that 99 of 100 overviews may take. */
const WINDOWS = [
  { name: '24 h', hours: 24, targetMs: 20 },
  { name: '30 days', hours: 720, targetMs: 60 },
]

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const siteCount = wholeNumber('--sites', options.sites, 1)
  const measureMs = wholeNumber('--seconds', options.seconds, 1) * 1_000
  const dataDir = session.newFolder('data')
  const sites = await importSites(dataDir, siteCount)
  await importHistory(dataDir, (done, all) => {
    if (done % 10 === 0 || done === all) process.stderr.write(`  wrote the past of ${done} of ${all} sites\n`)
  })
  const server = await startTagwarden(session, dataDir)
  const checks: Check[] = []
  for (const { name, hours, targetMs } of WINDOWS) {
    const urls = sites.map((site) => server.url + overviewPath(site, hours))
    const { reports, p50Ms, p99Ms } = await readReports(session, { urls, warmupMs: WARMUP_MS, measureMs })
    checks.push({
      what: `overview of ${name}, ${reports} read`,
      value: `p99 ${milliseconds(p99Ms)}, p50 ${milliseconds(p50Ms)}; ${(p99Ms / targetMs).toFixed(2)} of the target`,
      target: `p99 < ${targetMs} ms`,
      reached: p99Ms < targetMs,
    })
  }
  const settings = `${siteCount} sites with ${HISTORY_TAGS} tags and ${HISTORY_EVENT_NAMES} event names each.`
  const header = runHeader('Reports', settings, caveats(session.pins, session.folder))
  const outcome = { measurements: [], checks }
  const text = outcomeText(outcome)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}
