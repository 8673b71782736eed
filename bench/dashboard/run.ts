import { parseArgs } from 'node:util'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { startDemo } from '../../testkit/demo.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { median } from '../lib/statistics.ts'
import { type Check, milliseconds, outcomeText } from '../lib/table.ts'
import { firstLoad, interactions } from './measure.ts'

const HELP = `Measures the dashboard in a real browser: how soon the overview of the demo is there, and how soon a page with many
sites answers to the hand.

  node bench/dashboard/run.ts [options]

  --loads N      first loads, of which the median counts (10)
  --sites N      sites of the wall that is worked with (1000)
  --write        put the results into bench/RESULTS.md
`
const DEMO_DAYS = 7
const LOAD_TARGET_MS = 1_000
const INTERACTION_TARGET_MS = 100

const { values: options } = parseArgs({
  options: {
    loads: { type: 'string', default: '10' },
    sites: { type: 'string', default: '1000' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const loads = wholeNumber('--loads', options.loads, 1)
  const siteCount = wholeNumber('--sites', options.sites, 1)
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox'],
  })
  try {
    const demo = await startDemo(session, session.newFolder('demo'), DEMO_DAYS)
    const times: number[] = []
    for (let load = 0; load < loads; load++) times.push(await firstLoad(browser, demo.url))
    await demo.stop()

    const dataDir = session.newFolder('data')
    await importSites(dataDir, siteCount)
    const wall = await startTagwarden(session, dataDir)
    const found = await interactions(browser, wall.url)
    const checks: Check[] = [
      {
        what: `the overview of the demo shows its sites, ${loads} first loads`,
        value: `median ${milliseconds(median(times))}, longest ${milliseconds(Math.max(...times))}`,
        target: `< ${LOAD_TARGET_MS} ms`,
        reached: median(times) < LOAD_TARGET_MS,
      },
      ...Object.entries(found).map(([name, ms]) => ({
        what: `${siteCount.toLocaleString('en-US')} sites: ${name}`,
        value: ms === 0 ? 'under 16 ms' : milliseconds(ms),
        target: `< ${INTERACTION_TARGET_MS} ms`,
        reached: ms < INTERACTION_TARGET_MS,
      })),
    ]
    const header = runHeader('Dashboard', 'Chromium without a throttle, on the same machine as the service.', [])
    const text = outcomeText({ measurements: [], checks })
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
  } finally {
    await browser.close()
  }
}
