import { parseArgs } from 'node:util'
import { apiClient, type SiteKey } from '../../testkit/api.ts'
import { createSites } from '../../testkit/many-sites.ts'
import { wholeNumber } from '../../testkit/options.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { runSession, type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { caveats } from '../lib/machine.ts'
import { type MeasuredPostgres, startMeasuredPostgres } from '../lib/postgres.ts'
import { packKeys } from '../lib/request-template.ts'
import { runHeader, writeResults } from '../lib/results-file.ts'
import { startBare } from '../lib/servers.ts'
import { CONNECTIONS, type Sample, type Subject, sample } from './sample.ts'
import { scaleTable } from './table.ts'

const HELP = `Measures one, two and three nodes on one PostgreSQL, against the bare server and the embedded store in the same run.

  node bench/scale/run.ts [options]

  --sites N      sites that send in turn (100)
  --seconds N    measured seconds of each load (5)
  --rounds N     rounds, of which medians are shown (3)
  --write        put the results into bench/RESULTS.md
`
const NODES = 3

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(HELP)
else await runSession((session) => session.step(() => measure(session)))

async function measure(session: Session): Promise<void> {
  const siteCount = wholeNumber('--sites', options.sites, 1)
  const seconds = wholeNumber('--seconds', options.seconds, 1)
  const rounds = wholeNumber('--rounds', options.rounds, 1)
  const postgres = await startMeasuredPostgres(session.pins.server)
  try {
    const { subjects, sites, nodes } = await startSubjects(session, postgres, siteCount)
    const samples = new Map<Subject, Sample[]>(subjects.map((subject) => [subject, []]))
    for (let round = 1; round <= rounds; round++) {
      for (const subject of subjects) {
        const result = await sample(session, postgres, subject, seconds * 1_000)
        samples.get(subject)?.push(result)
        process.stderr.write(`  round ${round}, ${subject.name}: ${Math.round(result.requestsPerSecond)} requests/s\n`)
      }
    }
    const acknowledged = subjects
      .filter(({ servers }) => servers.every((server) => nodes.includes(server)))
      .flatMap((subject) => samples.get(subject) ?? [])
      .reduce((sum, { accepted }) => sum + accepted, 0)
    const counted = await countedEvents(nodes[0].url, sites)
    const settings =
      `PostgreSQL ${postgres.version} as it comes. ${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections, ` +
      `${siteCount} sites; medians. Nodes and database share one core, the generator has the other.`
    const header = runHeader('Scale', settings, caveats(session.pins, session.folder))
    const check = `Acknowledged by the nodes: ${acknowledged}, counted in the overviews: ${counted}.`
    const text = `${scaleTable(subjects.map(({ name }, index) => ({ name, samples: [...samples.values()][index] ?? [] })))}\n\n${check}`
    process.stdout.write(`\n${header}\n\n${text}\n`)
    if (options.write) writeResults(header, text)
    if (acknowledged !== counted) throw new Error(check)
  } finally {
    await postgres.stop()
  }
}

async function startSubjects(session: Session, postgres: MeasuredPostgres, siteCount: number) {
  const bare = await startBare(session)
  const embedded = await startTagwarden(session, session.newFolder('embedded'))
  const startNode = () => startTagwarden(session, session.newFolder('node'), { DATABASE_URL: postgres.url })
  const nodes: [ServerProcess, ...ServerProcess[]] = [await startNode()]
  const embeddedSites = await createSites(embedded.url, siteCount)
  const sites = await createSites(nodes[0].url, siteCount)
  // After the sites: several nodes answer each new one only when all know it.
  while (nodes.length < NODES) nodes.push(await startNode())
  const keys = packKeys(sites.map(({ ingest_key }) => ingest_key))
  const subjects: Subject[] = [
    { name: 'bare node:http', servers: [bare], keys },
    {
      name: 'embedded (SQLite)',
      servers: [embedded],
      keys: packKeys(embeddedSites.map(({ ingest_key }) => ingest_key)),
    },
    ...nodes.map((node, index): Subject => {
      const others = nodes.slice(1, index + 1)
      return { name: `${index + 1} on PostgreSQL`, servers: index === 0 ? [node] : [nodes[0], ...others], keys }
    }),
  ]
  return { subjects, nodes, sites }
}

async function countedEvents(url: string, sites: readonly SiteKey[]): Promise<number> {
  let sum = 0
  for (const site of sites) sum += await apiClient(url).totalEvents(site, 24)
  return sum
}
