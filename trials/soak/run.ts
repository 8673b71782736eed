import { parseArgs } from 'node:util'
import { caveats } from '../../bench/lib/machine.ts'
import { grouped } from '../../bench/lib/table.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { type Part, writeFigures } from '../lib/figures.ts'
import { overloadChecks, overloadText } from '../overload/outcome.ts'
import { overload } from '../overload/overload.ts'
import { soakChecks, soakText } from './outcome.ts'
import { PEAK_SECONDS } from './peak.ts'
import { soak } from './soak.ts'

const HELP = `Loads one node with the embedded store: for long, at half of what it can take, with probes, alerts, messages, reports
and an event stream beside it; then, for a short time, with three times what it can take.

  npm run soak -- [options]

  --minutes N        length of the long load (30)
  --seconds N        length of each overload (30)
  --connections N,N  connections that offer the overload, one run each (512,2000,8000)
  --only PART        soak or overload
  --write            put the figures into docs/reliability.md

The exit code is 1 when something was not held.
`

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '30' },
    connections: { type: 'string', default: '512,2000,8000' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const SITES = 500
const LOADED_SITES = 200

const progress = (text: string): void => {
  process.stderr.write(`  ${text}\n`)
}

if (options.help) process.stdout.write(HELP)
else {
  await runSession(async (session) => {
    const { only } = options
    if (only !== undefined && only !== 'soak' && only !== 'overload')
      throw new Error(`--only ${only}: soak or overload`)
    const minutes = wholeNumber('--minutes', options.minutes, 1)
    const seconds = wholeNumber('--seconds', options.seconds, 1)
    const connections = options.connections.split(',').map((count) => wholeNumber('--connections', count, 1))
    if (only !== 'overload') await session.step(() => runSoak(session, minutes))
    if (only !== 'soak') await session.step(() => runOverload(session, seconds, connections))
  })
}

async function runSoak(session: Session, minutes: number): Promise<void> {
  const result = await soak(session, {
    seconds: minutes * 60,
    sampleSeconds: minutes < 6 ? 20 : 60,
    perSecond: null,
    sites: SITES,
    loadedSites: LOADED_SITES,
    connections: 256,
    probeSeconds: 30,
    brokenSeconds: 45,
    cycleSeconds: 90,
    reportsPerSecond: 5,
    progress,
  })
  const settings =
    `${minutes} minutes at ${grouped(result.perSecond)} requests/s, half of the peak of ${grouped(result.peak ?? 0)}: ` +
    `${LOADED_SITES} sites, 5 % batches of 200 events, 5 % with an Idempotency-Key; ${SITES} probes every 30 s, of which 20 ` +
    'find their target broken for 45 s every 90 s; 5 reports a second; one event stream.'
  report(session, 'soak', settings, soakText(result), soakChecks(result))
}

async function runOverload(session: Session, seconds: number, connections: readonly number[]): Promise<void> {
  const result = await overload(session, {
    peakSeconds: PEAK_SECONDS,
    calmSeconds: 5,
    seconds,
    connections,
    sites: LOADED_SITES,
    progress,
  })
  const settings =
    `Three times the peak of ${grouped(result.peak)} requests/s, for ${seconds} s each; the same mix over ${LOADED_SITES} ` +
    'sites. A request that finds no free connection for a second is given up by its sender.'
  report(session, 'overload', settings, overloadText(result), overloadChecks(result))
}

function report(
  session: Session,
  part: Part,
  settings: string,
  text: string,
  checks: readonly { reached: boolean }[],
): void {
  const notes = caveats(session.pins, session.folder)
  process.stdout.write(`\n${[settings, ...notes].join(' ')}\n\n${text}\n`)
  if (options.write) writeFigures(part, [settings, ...notes].join(' '), text)
  if (checks.some(({ reached }) => !reached)) process.exitCode = 1
}
