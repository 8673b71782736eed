import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { sqlitePath } from '../../src/store/index.ts'
import { wholeNumber } from '../../testkit/options.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { runSession, type Session } from '../../testkit/processes/session.ts'
import { REPOSITORY } from '../../testkit/repository.ts'
import { caveats, processorSeconds } from '../lib/machine.ts'
import { programsWith, startProgram } from '../lib/programs.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { median } from '../lib/statistics.ts'
import { markdownTable, milliseconds } from '../lib/table.ts'

const HELP = `Measures what an answer of the overview costs with many sites, in processor time of the server and as time until it is there.

  node bench/overview/run.ts [options]

  --sites N      sites (1000)
  --probes N     probes of each (10)
  --answers N    answers of each kind in a round (20)
  --rounds N     rounds (3)
  --against DIR  another checkout of Tagwarden, measured in turn with this one
  --write        put the results into bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '1000' },
    probes: { type: 'string', default: '10' },
    answers: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** What happens between two answers, in the database, and whether the second is asked for only if it differs. */
const KINDS: Readonly<Record<string, { statement?: (turn: number) => string; isConditional?: boolean }>> = {
  'nothing has changed': {},
  'nothing has changed, `If-None-Match`': { isConditional: true },
  'a sixtieth of the probes have run': {
    statement: (turn) => `update probes set last_result_at = last_result_at + 1 where rowid % 60 = ${turn % 60}`,
  },
  'a tenth of the sites have sent something': {
    statement: (turn) => `update site_containers set last_seen_at = last_seen_at + 1 where site_no % 10 = ${turn % 10}`,
  },
  'every site has sent something': { statement: () => 'update site_containers set last_seen_at = last_seen_at + 1' },
}

interface Figures {
  /** Of the server, ms an answer. */
  processorMs: number[]
  /** Until the whole answer is there, ms. */
  waitedMs: number[]
  bytes: number
}

if (options.help) process.stdout.write(HELP)
else await runSession(measure)

async function measure(session: Session): Promise<void> {
  const sites = wholeNumber('--sites', options.sites, 1)
  const probesPerSite = wholeNumber('--probes', options.probes, 0)
  const answers = wholeNumber('--answers', options.answers, 1)
  const rounds = wholeNumber('--rounds', options.rounds, 1)
  const programs = programsWith(options.against)
  const filled = session.newFolder('filled')
  // By the older of two programs: the newer one brings its tables up to date.
  const oldest = programs[0]?.folder ?? REPOSITORY
  const { fillAgency } = (await import(join(oldest, 'bench/overview/fill.ts'))) as typeof import('./fill.ts')
  await fillAgency(filled, { sites, probesPerSite })
  const servers: { name: string; folder: string; server: ServerProcess }[] = []
  for (const program of programs) {
    const folder = session.newFolder(program.name)
    cpSync(filled, folder, { recursive: true })
    servers.push({ name: program.name, folder, server: await startProgram(session, program, folder) })
  }
  const found = new Map<string, Figures>()
  for (let round = 1; round <= rounds; round++) {
    for (const kind of Object.keys(KINDS)) {
      for (const { name, folder, server } of servers) {
        const key = `${kind}|${name}`
        const figures = found.get(key) ?? { processorMs: [], waitedMs: [], bytes: 0 }
        found.set(key, figures)
        await ask(server, folder, kind, answers, figures)
        process.stderr.write(`  round ${round}, ${kind}, ${name}: ${figures.processorMs.at(-1)?.toFixed(1)} ms\n`)
      }
    }
  }
  const rows = [...found].map(([key, { processorMs, waitedMs, bytes }]) => [
    ...key.split('|'),
    milliseconds(median(processorMs)),
    milliseconds(median(waitedMs)),
    `${(bytes / 1_000).toFixed(0)} kB`,
  ])
  const text = markdownTable(
    ['since the last answer', 'program', 'processor time', 'until it is there', 'compressed'],
    rows,
  )
  const settings = `${sites} sites with ${probesPerSite} probes each; ${rounds} rounds of ${answers} answers, medians.`
  const header = runHeader('Overview', settings, caveats(session.pins, session.folder))
  process.stdout.write(`\n${header}\n\n${text}\n`)
  if (options.write) writeResults(header, text)
}

async function ask(
  server: ServerProcess,
  folder: string,
  kind: string,
  answers: number,
  figures: Figures,
): Promise<void> {
  const { statement, isConditional = false } = KINDS[kind] ?? {}
  const db = new DatabaseSync(sqlitePath(folder), { timeout: 5_000 })
  try {
    let { etag } = await answerOf(server, null)
    const before = processorSeconds(server.pid)
    for (let turn = 0; turn < answers; turn++) {
      if (statement !== undefined) db.exec(statement(turn))
      const began = performance.now()
      const answer = await answerOf(server, isConditional ? etag : null)
      figures.waitedMs.push(performance.now() - began)
      figures.bytes = answer.bytes
      etag = answer.etag
    }
    figures.processorMs.push(((processorSeconds(server.pid) - before) * 1_000) / answers)
  } finally {
    db.close()
  }
}

async function answerOf(server: ServerProcess, etag: string | null): Promise<{ etag: string | null; bytes: number }> {
  const headers = { 'accept-encoding': 'gzip', ...(etag === null ? {} : { 'if-none-match': etag }) }
  const answer = await fetch(`${server.url}/api/dashboard/overview`, { headers })
  await answer.arrayBuffer()
  return { etag: answer.headers.get('etag'), bytes: Number(answer.headers.get('content-length')) }
}
