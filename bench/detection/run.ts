import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { MINUTE } from '../../src/lib/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { SCOPES, type Scope } from './history.ts'
import type { SiteOutcome } from './score.ts'
import type { SeedTask } from './seed-worker.ts'
import { WORLDS } from './site.ts'
import { siteMonths, tables } from './tables.ts'
import { RUN_EVERY } from './world.ts'

const HELP = `Replays simulated sites with known faults through the detectors of the data probes.

  node bench/detection/run.ts [options]

  --world NAME   how traffic is made: counts, or visitors (counts)
  --sites N      sites of each seed (60: about seven seconds each)
  --seed N       where their random numbers begin (1000; detectors are tuned on seeds below 1000 only)
  --seeds N      so many seeds, each in a thread of its own (1)
  --minutes N    begins no site after so many minutes (600)
  --probes NAME  all; volume: only data_volume and data_freshness, which takes a third of the time; signals: the
                 probes of what version 2 of the tag says, with faults of their own (all)
  --every N      minutes between two runs (5)
  --list         name every fault that was missed and every false alarm
  --write        put the results into bench/RESULTS.md
`

const WATCHED: Readonly<Record<Scope, string>> = {
  all: '',
  volume: ', the probes of volume only',
  signals: ', the probes of signals and what doubles',
}

const { values: options } = parseArgs({
  options: {
    world: { type: 'string', default: 'counts' },
    sites: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1000' },
    seeds: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '600' },
    probes: { type: 'string', default: 'all' },
    every: { type: 'string', default: `${RUN_EVERY}` },
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await measure()

async function measure(): Promise<void> {
  const world = WORLDS.find((name) => name === options.world)
  if (world === undefined) throw new Error(`--world ${options.world}: ${WORLDS.join(' or ')}`)
  const sites = wholeNumber('--sites', options.sites, 1)
  const first = wholeNumber('--seed', options.seed, 0)
  const scope = SCOPES.find((name) => name === options.probes)
  if (scope === undefined) throw new Error(`--probes ${options.probes}: ${SCOPES.join(' or ')}`)
  const every = wholeNumber('--every', options.every, 1)
  const until = Date.now() + wholeNumber('--minutes', options.minutes, 1) * MINUTE
  const seeds = Array.from({ length: wholeNumber('--seeds', options.seeds, 1) }, (_, index) => first + index)
  const outcomes = new Map(
    await Promise.all(
      seeds.map(async (seed) => [seed, await outcomesOf({ world, seed, sites, scope, every, until })] as const),
    ),
  )
  const named = seeds.length === 1 ? `seed ${first}` : `each of the seeds ${first} to ${first + seeds.length - 1}`
  const count = [...outcomes.values()].flat().length
  const months = siteMonths([...outcomes.values()].flat())
  const settings = `Traffic of ${world}; ${count} sites of ${named}, three weeks judged after five weeks of past (${months.toFixed(0)} site-months), default settings${WATCHED[scope]}, runs every ${every} min.`
  const header = runHeader(scope === 'signals' ? 'Detection by signals' : 'Detection', settings, [])
  const text = tables(outcomes)
  if (options.list) for (const outcome of [...outcomes.values()].flat()) list(outcome)
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

async function outcomesOf(task: SeedTask): Promise<SiteOutcome[]> {
  const outcomes: SiteOutcome[] = []
  const worker = new Worker(new URL('seed-worker.ts', import.meta.url), { workerData: task })
  worker.on('message', (outcome: SiteOutcome) => {
    outcomes.push(outcome)
    if (outcomes.length % 10 === 0) {
      process.stderr.write(`  seed ${task.seed}: ${outcomes.length} of ${task.sites} sites\n`)
    }
  })
  await once(worker, 'exit')
  return outcomes
}

function list({ site, faults, falseAlarms }: SiteOutcome): void {
  const missed = faults.filter(({ isVisible, detectedAfter }) => isVisible && detectedAfter === null)
  for (const { fault } of missed) process.stdout.write(`missed at ${site}: ${JSON.stringify(fault)}\n`)
  for (const { probe, from, to, subject, message, cause } of falseAlarms) {
    process.stdout.write(
      `false at ${site}: ${cause ?? 'ordinary'}: ${probe} on ${subject} in slots ${from}–${to}: ${message}\n`,
    )
  }
}
