import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { LoadResult } from '../../../bench/lib/http-load.ts'
import { memoryIfAlive } from '../../../bench/lib/machine.ts'
import { startMeasuredPostgres } from '../../../bench/lib/postgres.ts'
import { ingestRequest, packKeys } from '../../../bench/lib/request-template.ts'
import { grouped, markdownTable, milliseconds } from '../../../bench/lib/table.ts'
import type { SteadyCalls, SteadyPlan } from '../../../bench/probes/steady-load.ts'
import { STEADY_LOAD } from '../../../bench/probes/workers.ts'
import { readConfig } from '../../../src/config.ts'
import { openStore } from '../../../src/store/index.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { type Session, startTagwarden } from '../../../testkit/processes/session.ts'
import { BLOATED, bloat } from '../../lib/bloat.ts'
import { goodCaller, newSites } from '../fixture.ts'
import { type PressureAttack, pressureAttacks } from './attacks.ts'
import { Herd } from './herd.ts'

/** With no attack: on a machine that is too slow or too busy no attack can be judged. */
const ALONE_P99_MS = 100
/** Most that the process may take beside any attack, MB: unread answers once took it to 1,700. */
const PEAK_MB = 1_000
/** Those of the largest attack, of the healthy senders, and of the server's own files. */
const FILES_NEEDED = 6_000
const RATE_PER_SECOND = 500
const HEALTHY_CONNECTIONS = 64
/** Connections are there before it is measured. */
const BUILD_UP_MS = 4_000
const MEASURE_MS = 15_000
const MEMORY_INTERVAL_MS = 250

type Engine = 'sqlite' | 'postgres'

const ENGINE_NAMES: Readonly<Record<Engine, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** One attack on a service with one engine, or none. */
export interface PressureRow {
  engine: Engine
  name: string
  connections: number
  /** Connections that the server ended. */
  cut: number
  load: LoadResult
  peakMb: number
  targetP99Ms: number
  fault: string | null
}

/** Healthy senders at a steady rate, alone and beside each attack, on each engine. @throws Error when too few files may be open */
export async function runPressure(session: Session, progress: (text: string) => void): Promise<PressureRow[]> {
  requireFiles()
  return [
    ...(await session.step(() => onEngine(session, 'sqlite', {}, progress))),
    ...(await session.step(() => onPostgres(session, progress))),
  ]
}

async function onPostgres(session: Session, progress: (text: string) => void): Promise<PressureRow[]> {
  const postgres = await startMeasuredPostgres(session.pins.server)
  try {
    return await onEngine(session, 'postgres', { DATABASE_URL: postgres.url }, progress)
  } finally {
    await postgres.stop()
  }
}

async function onEngine(
  session: Session,
  engine: Engine,
  environment: Readonly<Record<string, string>>,
  progress: (text: string) => void,
): Promise<PressureRow[]> {
  const dataDir = session.newFolder('data')
  const { victim, healthy } = await prepare(session, dataDir, environment)
  const server = await startTagwarden(session, dataDir, environment)
  const send = startSender(session, server, healthy.ingest_key)
  const rows: PressureRow[] = []
  const measure = async (attack: PressureAttack | null) => {
    const row = { engine, ...(await underAttack(server, attack, send)) }
    rows.push(row)
    const fault = row.fault === null ? '' : `, ${row.fault}`
    progress(`${ENGINE_NAMES[engine]}, ${row.name}: p99 ${milliseconds(row.load.p99Ms)}${fault}`)
  }
  await measure(null)
  for (const attack of pressureAttacks({ key: victim.ingest_key, siteId: victim.id })) await measure(attack)
  await measure(null)
  await server.stop()
  return rows
}

/** A healthy site, and one that is attacked and whose reports of a year take long. */
async function prepare(session: Session, dataDir: string, environment: Readonly<Record<string, string>>) {
  const server = await startTagwarden(session, dataDir, environment)
  const [victim] = await newSites(goodCaller(server.url, null), 'Attacked', 1)
  const [healthy] = await newSites(goodCaller(server.url, null), 'Healthy', 1)
  await server.stop()
  if (victim === undefined || healthy === undefined) throw new Error('a site is missing')
  const store = await openStore(readConfig({ DATA_DIR: dataDir, ...environment }), () => undefined)
  try {
    await bloat(store, victim.id, BLOATED)
    // Otherwise the server writes all of that out, and cleans up behind it, while the first figures are taken.
    if (store.engine === 'postgres') {
      for (const settle of [sql`vacuum analyze`, sql`checkpoint`]) await settle.execute(store.admin)
    }
  } finally {
    await store.close()
  }
  return { victim, healthy }
}

async function underAttack(
  server: ServerProcess,
  attack: PressureAttack | null,
  send: () => Promise<LoadResult>,
): Promise<Omit<PressureRow, 'engine'>> {
  const herd = attack === null ? null : new Herd(server.port, attack.connections, attack.behaviour)
  let peakMb = 0
  const memory = setInterval(() => {
    peakMb = Math.max(peakMb, memoryIfAlive(server.pid))
  }, MEMORY_INTERVAL_MS)
  try {
    if (herd !== null) await sleep(BUILD_UP_MS)
    const load = await send()
    const fault = herd === null ? null : (attack?.fault(herd) ?? null)
    return {
      name: attack?.name ?? 'none',
      connections: attack?.connections ?? 0,
      cut: herd?.cut ?? 0,
      load,
      peakMb,
      targetP99Ms: attack?.targetP99Ms ?? ALONE_P99_MS,
      fault,
    }
  } finally {
    clearInterval(memory)
    herd?.end()
  }
}

function startSender(session: Session, { port }: ServerProcess, key: string): () => Promise<LoadResult> {
  const sender = session.startWorker<SteadyCalls>('sender', STEADY_LOAD)
  const plan: SteadyPlan = {
    port,
    ratePerSecond: RATE_PER_SECOND,
    connections: HEALTHY_CONNECTIONS,
    warmupMs: 1_000,
    measureMs: MEASURE_MS,
    request: ingestRequest(eventBody()),
    key: packKeys([key]),
  }
  return () => sender.run(plan)
}

/** Node raises its own limit to the hard one, and what it starts inherits that. */
function requireFiles(): void {
  const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '0'
  if (limit === 'unlimited' || Number(limit) >= FILES_NEEDED) return
  throw new Error(`only ${limit} files may be open: the idle connections need ${FILES_NEEDED}, see "ulimit -n"`)
}

/** That none failed says nothing where none was made. */
const isServed = ({ load }: PressureRow): boolean =>
  load.unanswered === 0 && load.accepted === load.answers && load.answers >= (RATE_PER_SECOND * MEASURE_MS) / 2_000

export const isHeld = (row: PressureRow): boolean =>
  row.fault === null &&
  isServed(row) &&
  row.load.p99Ms <= row.targetP99Ms &&
  // Never 0: only a process that is gone, or was not measured, takes so little.
  row.peakMb > 0 &&
  row.peakMb <= PEAK_MB

export const pressureSettings = `${RATE_PER_SECOND} healthy requests/s over ${HEALTHY_CONNECTIONS} connections, ${MEASURE_MS / 1_000} s each; times count from when a request was due.`

/** What the attacks did to the healthy senders, as Markdown. */
export function pressureText(rows: readonly PressureRow[]): string {
  const head = [
    'engine',
    'attack',
    'connections',
    'cut by the server',
    'healthy p50',
    'p99',
    'longest',
    'not answered 200',
    'memory, peak',
    'held',
  ]
  return markdownTable(
    head,
    rows.map((row) => [
      ENGINE_NAMES[row.engine],
      row.fault === null ? row.name : `${row.name}: ${row.fault}`,
      grouped(row.connections),
      grouped(row.cut),
      milliseconds(row.load.p50Ms),
      milliseconds(row.load.p99Ms),
      milliseconds(row.load.maxMs),
      grouped(row.load.unanswered + row.load.answers - row.load.accepted),
      `${row.peakMb.toFixed(0)} MB`,
      isHeld(row) ? 'yes' : `no (p99 ≤ ${row.targetP99Ms} ms, ≤ ${grouped(PEAK_MB)} MB, all answered 200)`,
    ]),
  )
}
