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

/** A PostgreSQL server, removed with its files when the process that started it ends, even by kill -9. */
export interface PostgresServer {
  /** The maintenance database, as superuser. */
  adminUrl: string
  /** A folder that is removed with the server. */
  folder: string
  /** Everything the server logged. */
  log: () => Promise<string>
  /** Starts it again on the same port. */
  start: () => Promise<void>
  stop: (mode: StopMode) => Promise<void>
  /** Ends it and removes its files. */
  remove: () => Promise<void>
}

export interface ServerOptions {
  /** Whether commits survive a power failure, as in production; otherwise the server is several times faster. */
  durable: boolean
  /** Maximum number of connections. */
  maxConnections?: number
}

const COMMON_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '128MB',
  log_lock_waits: 'on',
  log_line_prefix: '%m [%p] %d ',
  // The default 4,096 rounds of password hashing are a sixth of a connection's cost, and there are thousands of connections.
  scram_iterations: 1,
}
const FAST_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  // Databases live only for a test, so vacuuming gains nothing.
  autovacuum: 'off',
  // All files are in memory, so passing reads to a worker process costs more than reading.
  io_method: 'sync',
}

/**
 * Sorts text by language instead of bytes, as most servers do, which exposes queries that leave the order of names to the database.
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
        // Remaining processes of a killed server prevent a start until they have noticed.
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
  // Readable for the server's user, whatever the umask; other users cannot enter the folder.
  await chmod(passwordFile, 0o644)
  const set = Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`)
  // The default `scram-sha-256` costs both sides computing and two more messages.
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=password']
  await run('initdb', ['-D', dataFolder, '--no-sync', '--no-instructions', ...LOCALE, ...access, ...set])
}

/** A shell script that waits for the end of its input, kills the server if it runs, and removes its folders. */
const GUARD = `
read -r _
pidfile=$1/postmaster.pid
if pid=$(head -n 1 "$pidfile") && kill -QUIT "$pid"; then
  for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$pidfile" ] && sleep 0.2; done
fi
rm -rf "$@" || { sleep 1; rm -rf "$@"; }
`

/**
 * Starts a process that removes the server and its folders when the returned function is called or when this process ends, even by
 * kill -9, because the system then closes the pipe between the two.
 */
export function guard(dataFolder: string, folder: string): () => Promise<void> {
  const args = ['-c', GUARD, 'sh', dataFolder, folder]
  // Detached, because Ctrl-C on a terminal reaches the whole process group and would also end the guard.
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
      // Another program may have taken the port meanwhile.
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
