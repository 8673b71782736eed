import { parseArgs } from 'node:util'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { writeFigures } from '../lib/figures.ts'
import { isSound, outcomeText, settingsLine } from './outcome.ts'
import { arePagesRead, pagesSettings, pagesText } from './pages/outcome.ts'
import { runPages } from './pages/run.ts'
import { type PartResult, runPart } from './part.ts'
import { isHeld, pressureSettings, pressureText, runPressure } from './pressure/measure.ts'

const HELP = `Attacks Tagwarden over HTTP with hostile requests, and says whether it stands.

  node trials/fuzz/run.ts [options]

  --requests N   hostile requests over all parts (1,000,000)
  --pages N      bodies of hostile answers to probes (100,000)
  --seed N       another seed sends others; the same one sends the same (1)
  --only a,b     parts: open (no one needs a key), keys (ADMIN_TOKEN and VIEWER_TOKEN are set), pages (what monitored sites answer),
                 pressure (slow, idle and greedy connections, on SQLite and on PostgreSQL; needs "ulimit -n" of 6,000) (all)
  --write        put the figures into docs/reliability.md
`

const PARTS = ['open', 'keys', 'pages', 'pressure']
/** What the open part has of the requests when both run. */
const OPEN_SHARE = 0.6

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    pages: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: PARTS.join(',') },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(fuzz)

async function fuzz(session: Session): Promise<void> {
  const requests = wholeNumber('--requests', options.requests, 1)
  const seed = wholeNumber('--seed', options.seed, 0)
  const parts = options.only.split(',')
  const odd = parts.find((part) => !PARTS.includes(part))
  if (odd !== undefined) throw new Error(`--only: there is no part ${odd}\n\n${HELP}`)
  const progress = (text: string) => process.stderr.write(`  ${text}\n`)

  const results: PartResult[] = []
  const both = parts.includes('open') && parts.includes('keys')
  for (const [name, share] of [
    ['open', OPEN_SHARE],
    ['keys', 1 - OPEN_SHARE],
  ] as const) {
    if (!parts.includes(name)) continue
    const count = Math.round(both ? requests * share : requests)
    results.push(await session.step(() => runPart(session, name, count, seed, progress)))
  }
  if (results.length > 0) {
    const text = outcomeText(results)
    process.stdout.write(`\n${text}\n`)
    if (options.write) writeFigures('fuzz', settingsLine(seed), text)
  }
  let isEveryPageRead = true
  if (parts.includes('pages')) {
    const count = wholeNumber('--pages', options.pages, 1)
    const result = await session.step(() => runPages(count, seed, progress))
    const text = pagesText(result)
    process.stdout.write(`\n${text}\n`)
    if (options.write) writeFigures('pages', pagesSettings(seed), text)
    for (const failure of result.failures) process.stderr.write(`  ${failure}\n`)
    isEveryPageRead = arePagesRead(result)
  }
  let isEverySenderServed = true
  if (parts.includes('pressure')) {
    const rows = await runPressure(session, progress)
    const text = pressureText(rows)
    process.stdout.write(`\n${text}\n`)
    if (options.write) writeFigures('pressure', pressureSettings, text)
    isEverySenderServed = rows.every(isHeld)
  }
  for (const { failures } of results) if (failures.count > 0) process.stderr.write(`\n${failures.text()}\n`)
  if (!results.every(isSound) || !isEveryPageRead || !isEverySenderServed) process.exitCode = 1
}
