import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { type BatchOperation, openPostgresStore, type Store, StoreError, upsertInto } from '../../../src/store/index.ts'
import type { PostgresOptions } from '../../../src/store/postgres/open.ts'
import { listen } from '../../../testkit/listeners.ts'
import { createDatabase } from '../../../testkit/postgres/databases.ts'

/** Opens a store that closes with the test. */
export async function openOn(t: TestContext, url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({
    url,
    readUrl: null,
    poolSize: 10,
    patienceMs: 0,
    onError: (error, what) => t.diagnostic(`${what}: ${error.message}`),
    ...options,
  })
  t.after(() => store.close())
  return store
}

/** The address of a database of the test's own, on the server that all tests share. */
export async function newDatabase(t: TestContext, options?: { isMigrated: boolean }): Promise<string> {
  const { url, drop } = await createDatabase(options)
  // After the hooks that close what uses it.
  t.after(() => t.after(drop))
  return url
}

export const ofKind =
  (kind: StoreError['kind'], message = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.equal(error.kind, kind, error.message)
    assert.match(error.message, message)
    return true
  }

export const usage = upsertInto('client_usage', { keys: ['client_id', 'month'], sums: ['events', 'requests'] })
export const dirtyBuckets = upsertInto('dirty_buckets', { keys: ['site_no', 'grain', 'bucket'] })

export const addUsage = (client: string, events: number): BatchOperation => ({
  kind: 'upsert',
  spec: usage,
  values: [client, 1, events, 1],
})

export const journalRow = (store: Store, seq: number, payload = ''): BatchOperation => ({
  kind: 'statement',
  query: store.write.insertInto('journal').values({ node_id: 'n', seq, written_at: 0, payload }).compile(),
})

export const journalSeqs = async (store: Store): Promise<number[]> =>
  (await store.read.selectFrom('journal').select('seq').orderBy('seq').execute()).map(({ seq }) => seq)

/** The server process behind a connection. */
export async function backendOf(db: Store['read']): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

/** Ends sessions of the store's own role: an autovacuum worker, which is no one's, only a superuser may end. */
export const terminate = (by: Store, condition: ReturnType<typeof sql>) =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = user and pid != pg_backend_pid() and ${condition}`.execute(
    by.admin,
  )

export interface Wire {
  /** The address by way of the wire. */
  url: string
  /** From now on nothing comes through, or no answer, as from a host that has vanished. */
  cut: (what?: 'all' | 'answers') => void
  /** What is connected from now on comes through again. */
  mend: () => void
  /** The same, but unnoticed: what was connected stays silent and open on both sides. */
  forget: () => void
  /** What the program sends from now on takes this long, ms. */
  slowDown: (ms: number) => void
  /** Connections that the program holds. */
  connected: () => number
  /** How often the program has sent something. */
  sent: () => number
  /** Once: `spring` gets the next message with this text and its sender, and returns what to pass on instead. */
  trap: (text: string, spring: Trap['spring']) => void
}

interface Trap {
  text: string
  spring: (message: Buffer, program: Socket) => Buffer | null
}

/** A stretch of network between the program and the server of `url`. */
export async function wireTo(t: TestContext, url: string): Promise<Wire> {
  const server = new URL(url)
  let present = { requests: false, answers: false }
  let trap: Trap | undefined
  const program = new Set<Socket>()
  const ofServer = new Set<Socket>()
  let sent = 0
  let lagMs = 0
  const trapped = (message: Buffer, near: Socket): Buffer | null => {
    if (trap === undefined || !message.includes(trap.text)) return message
    const { spring } = trap
    trap = undefined
    return spring(message, near)
  }
  const wire = createServer((near) => {
    const isCut = present
    const far = connect(Number(server.port), server.hostname)
    program.add(near)
    ofServer.add(far)
    near.on('data', (data: Buffer) => {
      sent += 1
      const message = trapped(data, near)
      if (isCut.requests || message === null) return
      if (lagMs === 0) far.write(message)
      else setTimeout(() => far.write(message), lagMs)
    })
    far.on('data', (data) => void (isCut.answers || near.write(data)))
    near.on('close', () => {
      program.delete(near)
      if (!isCut.requests) far.destroy()
    })
    far.on('close', () => {
      ofServer.delete(far)
      if (!isCut.answers) near.destroy()
    })
    for (const socket of [near, far]) socket.on('error', () => undefined)
  })
  const port = await listen(wire)
  const endAll = () => {
    for (const socket of program) socket.destroy()
  }
  t.after(() => {
    wire.close()
    endAll()
    // Also those whose end the server was never told: it waits a minute for who they are, and this process would wait with it.
    for (const socket of ofServer) socket.destroy()
  })
  const near = new URL(url)
  near.port = String(port)
  return {
    url: near.href,
    cut(what = 'all') {
      Object.assign(present, { requests: what === 'all', answers: true })
    },
    mend() {
      present = { requests: false, answers: false }
      endAll()
    },
    forget() {
      present = { requests: false, answers: false }
    },
    slowDown(ms) {
      lagMs = ms
    },
    connected: () => program.size,
    sent: () => sent,
    trap(text, spring) {
      trap = { text, spring }
    },
  }
}
