import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, readFile, writeFile } from 'node:fs/promises'
import { connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastestFolder, newFolder } from '../folders.ts'
import { freePort } from '../listeners.ts'
import { until } from '../until.ts'
import { postgresPrograms, type RunPostgres, type ServerUser, serverUser } from './binaries.ts'

/** `fast` ends the sessions and shuts down, `immediate` stops as after a crash, `kill` is kill -9 to the server. */
export type StopMode = 'fast' | 'immediate' | 'kill'

/** A PostgreSQL server. It and its files are gone when the process that started it is, however that ends. */
export interface PostgresServer {
  /** The maintenance database, as superuser. */
  adminUrl: string
  /** For whatever is to be gone with the server. */
  folder: string
  /** Everything the server logged. */
  log: () => Promise<string>
  /** On the port it always had. */
  start: () => Promise<void>
  stop: (mode: StopMode) => Promise<void>
  /** Ends it and removes its files. */
  remove: () => Promise<void>
}

export interface ServerOptions {
  /** Whether what is committed survives a loss of power, as in production; without it the server is several times faster. */
  durable: boolean
  /** Connections that it takes at most. */
  maxConnections?: number
}

const COMMON_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '128MB',
  log_lock_waits: 'on',
  log_line_prefix: '%m [%p] %d ',
  // The usual 4,096 rounds of hashing a password are a sixth of what a connection costs, and there are thousands.
  scram_iterations: 1,
}
const FAST_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  // Databases live for a test: a vacuum would gain nothing.
  autovacuum: 'off',
  // All files are in memory: handing each page that is read to a worker process costs more than reading it.
  io_method: 'sync',
}

/**
 * Sorts text as a language does and not by its bytes, as most servers out there: a query that leaves the order of names to
 * the database shows here.
 */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']

/** Makes a new server in temporary folders and starts it on a free port. */
export async function startServer({ durable, maxConnections = 200 }: ServerOptions): Promise<PostgresServer> {
  const user = await serverUser()
  const folder = await makeFolder(tmpdir(), user)
  const dataFolder = await makeFolder(durable ? tmpdir() : await fastestFolder(), user)
  const remove = guard(dataFolder, folder)
  try {
    const run = await postgresPrograms(folder, user)
    const password = randomBytes(16).toString('hex')
    const settings = { ...COMMON_SETTINGS, ...(durable ? {} : FAST_SETTINGS), max_connections: maxConnections }
    await makeCluster({ run, folder, dataFolder, password, settings })
    const logFile = join(folder, 'log')
    const control = (...args: string[]) => run('pg_ctl', ['--wait', '-D', dataFolder, ...args])
    const startOn = (port: number) => control('start', '-l', logFile, '-o', `-p ${port}`)
    const port = await startOnFreePort(startOn).catch(async (thrown: Error) => {
      throw new Error(`${thrown.message}\n${await readFile(logFile, 'utf8').catch(() => '')}`)
    })
    return {
      adminUrl: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      folder,
      log: () => readFile(logFile, 'utf8'),
      async start() {
        // What is left of a killed server keeps the next one from starting until it has noticed.
        await until('the server starts', () =>
          startOn(port).then(
            () => true,
            () => undefined,
          ),
        )
      },
      async stop(mode) {
        if (mode !== 'kill') return control('stop', '-m', mode)
        const [pid] = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8')).split('\n')
        process.kill(Number(pid), 'SIGKILL')
        await until('nothing listens', async () => ((await isListening(port)) ? undefined : true))
      },
      remove,
    }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}

async function makeFolder(parent: string, { uid, gid }: ServerUser): Promise<string> {
  const folder = await newFolder(parent)
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
  return folder
}

interface ClusterOptions {
  run: RunPostgres
  folder: string
  dataFolder: string
  password: string
  settings: Record<string, string | number>
}

async function makeCluster({ run, folder, dataFolder, password, settings }: ClusterOptions): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password)
  // For the user that the server runs as, whatever the umask says; no other user may enter the folder.
  await chmod(passwordFile, 0o644)
  const set = Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`)
  // Not the default `scram-sha-256`, which costs both sides computing and two more messages.
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=password']
  await run('initdb', ['-D', dataFolder, '--no-sync', '--no-instructions', ...LOCALE, ...access, ...set])
}

/** Waits for the end of its input, ends the server (if it runs) without ceremony, and removes its folders. */
const GUARD = `
read -r _
pidfile=$1/postmaster.pid
if pid=$(head -n 1 "$pidfile") && kill -QUIT "$pid"; then
  for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$pidfile" ] && sleep 0.2; done
fi
rm -rf "$@" || { sleep 1; rm -rf "$@"; }
`

/**
 * Has a process of its own remove the server and its folders: when told to, or when this process is gone, even by
 * kill -9, because the system then closes the pipe between the two.
 */
export function guard(dataFolder: string, folder: string): () => Promise<void> {
  const args = ['-c', GUARD, 'sh', dataFolder, folder]
  // Detached: Ctrl-C on a terminal reaches the whole group of processes, and would end the guard, too.
  const child = spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const gone = once(child, 'exit')
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return async () => {
    child.ref()
    child.stdin.end()
    await gone
  }
}

async function startOnFreePort(startOn: (port: number) => Promise<void>): Promise<number> {
  for (let tries = 3; ; tries--) {
    const port = await freePort()
    try {
      await startOn(port)
      return port
    } catch (thrown) {
      // Another program may have taken it since.
      if (tries === 1) throw thrown
    }
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
