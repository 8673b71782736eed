import { parseArgs } from 'node:util'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import { startDemo } from '../../testkit/demo.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { median } from '../lib/statistics.ts'
import { type Check, milliseconds, outcomeText } from '../lib/table.ts'
import { type FirstLoad, firstLoad, interactions, OVERVIEW, sitePage } from './measure.ts'
import { fillWideSite, WIDE } from './wide-site.ts'

const HELP = `Measures the dashboard in a real browser: how soon the overview of the demo and the page of a wide site are there, and how
soon pages with many sites, or many tags, answer to the hand.

  node bench/dashboard/run.ts [options]

  --loads N      first loads, of which the median counts (10)
  --sites N      sites of the overview that is worked with; may be given several times (300 and 1000)
  --write        put the results into bench/RESULTS.md
`
const DEMO_DAYS = 7
const LOAD_TARGET_MS = 1_000
const DATA_TARGET_BYTES = 300_000
/** Up to so many sites, and for a site however wide, an interaction shows within 50 ms, beyond within 100. */
const FLUENT_SITES = 300
const FLUENT_MS = 50
const TARGET_MS = 100

const { values: options } = parseArgs({
  options: {
    loads: { type: 'string', default: '10' },
    sites: { type: 'string', multiple: true, default: ['300', '1000'] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const loads = wholeNumber('--loads', options.loads, 1)
  const siteCounts = options.sites.map((text) => wholeNumber('--sites', text, 1))
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox'],
  })
  try {
    const checks = [
      ...(await measureDemo(session, browser, loads)),
      ...(await measureWideSite(session, browser, loads)),
      ...(await inTurn(siteCounts, (count) => measureOverview(session, browser, count))),
    ]
    const header = runHeader('Dashboard', 'Chromium without a throttle, on the same machine as the service.', [])
    const text = outcomeText({ measurements: [], checks })
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
  } finally {
    await browser.close()
  }
}

async function measureDemo(session: Session, browser: Browser, loads: number): Promise<Check[]> {
  const demo = await startDemo(session, session.newFolder('demo'), DEMO_DAYS)
  const found = await inTurn(Array.from({ length: loads }), async () => [await firstLoad(browser, demo.url)])
  await demo.stop()
  return [loadCheck('the overview of the demo shows its sites', found)]
}

async function measureWideSite(session: Session, browser: Browser, loads: number): Promise<Check[]> {
  const service = await startTagwarden(session, session.newFolder('wide'))
  const site = await fillWideSite(service.url)
  const path = `/sites/${site.id}`
  const found = await inTurn(Array.from({ length: loads }), async () => [
    await firstLoad(browser, service.url, path, 'canvas'),
  ])
  const bytes = Math.max(...found.map(({ dataBytes }) => dataBytes))
  const times = await interactions(browser, service.url, sitePage(site.id))
  await service.stop()
  const name = `a site of ${WIDE.tags} tags × ${WIDE.events} events`
  return [
    loadCheck(`${name} shows its first chart`, found),
    {
      what: `${name}: data by then, compressed`,
      value: `${(bytes / 1_000).toFixed(0)} kB`,
      target: `≤ ${DATA_TARGET_BYTES / 1_000} kB`,
      reached: bytes <= DATA_TARGET_BYTES,
    },
    ...interactionChecks(name, times, FLUENT_MS),
  ]
}

async function measureOverview(session: Session, browser: Browser, count: number): Promise<Check[]> {
  const dataDir = session.newFolder(`sites-${count}`)
  await importSites(dataDir, count)
  const service = await startTagwarden(session, dataDir)
  const times = await interactions(browser, service.url, OVERVIEW)
  await service.stop()
  const name = `${count.toLocaleString('en-US')} sites`
  return interactionChecks(name, times, count <= FLUENT_SITES ? FLUENT_MS : TARGET_MS)
}

function loadCheck(what: string, found: readonly FirstLoad[]): Check {
  const times = found.map(({ ms }) => ms)
  return {
    what: `${what}, ${times.length} first loads`,
    value: `median ${milliseconds(median(times))}, longest ${milliseconds(Math.max(...times))}`,
    target: `< ${LOAD_TARGET_MS} ms`,
    reached: median(times) < LOAD_TARGET_MS,
  }
}

function interactionChecks(name: string, times: Readonly<Record<string, number>>, targetMs: number): Check[] {
  return Object.entries(times).map(([act, ms]) => ({
    what: `${name}: ${act}`,
    value: ms === 0 ? 'under 16 ms' : milliseconds(ms),
    target: `≤ ${targetMs} ms`,
    reached: ms <= targetMs,
  }))
}

/** One after the other: they are measured on the same cores. */
async function inTurn<T, R>(items: readonly T[], act: (item: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(...(await act(item)))
  return results
}
