import { parseArgs } from 'node:util'
import { caveats } from '../../bench/lib/machine.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { writeFigures } from '../lib/figures.ts'
import { type Engine, fairness } from './fairness.ts'
import { hostileKinds, UNREAD_REPORTS } from './kinds.ts'
import { fairnessChecks, fairnessText } from './outcome.ts'

const HELP = `Nine healthy sites beside one that has a valid key and sends what hurts most: says what the nine notice of it.

  npm run fairness -- [options]

  --seconds N     length of each kind of hostile sender, and of the healthy sites alone (30)
  --only ENGINE   sqlite or postgres
  --kind TEXT     only the kinds of hostile sender whose names contain it; may be given several times
  --write         put the figures into docs/reliability.md

The exit code is 1 when something was not held.
`

const ENGINES: readonly Engine[] = ['sqlite', 'postgres']
const KINDS = [...hostileKinds.map(({ name }) => name), UNREAD_REPORTS]
const ENGINE_NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    only: { type: 'string' },
    kind: { type: 'string', multiple: true, default: [''] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession(runAll)

async function runAll(session: Session): Promise<void> {
  const seconds = wholeNumber('--seconds', options.seconds, 1)
  const engines = ENGINES.filter((engine) => options.only === undefined || options.only === engine)
  if (engines.length === 0) throw new Error(`--only ${options.only}: sqlite or postgres`)
  const kinds = KINDS.filter((name) => options.kind.some((text) => name.includes(text)))
  if (kinds.length === 0) throw new Error(`--kind ${options.kind.join(' ')}: one of ${KINDS.join('; ')}`)
  const parts: string[] = []
  let isHeld = true
  for (const engine of engines) {
    const result = await session.step(() =>
      fairness(session, { engine, seconds, kinds, progress: (text) => process.stderr.write(`  ${text}\n`) }),
    )
    parts.push(`**${ENGINE_NAMES[engine]}**\n\n${fairnessText(result)}`)
    isHeld &&= fairnessChecks(result).every(({ reached }) => reached)
  }
  const settings = [
    `200 healthy requests/s of nine sites; each kind of hostile sender for ${seconds} s, on the largest fixed plan.`,
    ...caveats(session.pins, session.folder),
  ].join(' ')
  const text = parts.join('\n\n')
  process.stdout.write(`\n${settings}\n\n${text}\n`)
  if (options.write) writeFigures('fairness', settings, text)
  if (!isHeld) process.exitCode = 1
}
