import { execFile } from 'node:child_process'
import { appendFile, chown, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { newFolder } from '../../../testkit/folders.ts'
import { freePort } from '../../../testkit/listeners.ts'
import { postgresPrograms, serverUser } from '../../../testkit/postgres/binaries.ts'
import { type OwnPostgres, startPostgres } from '../../../testkit/postgres/databases.ts'
import { guard } from '../../../testkit/postgres/server.ts'

/** As which the standby is known to the primary. */
export const STANDBY = 'standby'

export interface Standby {
  /** The database of the primary's owner, at the standby. */
  url: string
  adminUrl: string
  start: () => Promise<void>
  stop: () => Promise<void>
  /** Makes a primary of it. */
  promote: () => Promise<void>
}

export interface Pair {
  primary: OwnPostgres
  standby: Standby
  /** Both hosts in one address, the primary first. */
  url: string
}

/** A primary, and a hot standby that follows it. */
export async function startPair(t: TestContext): Promise<Pair> {
  const primary = await startPostgres(t, { durable: true })
  const standby = await startStandby(t, primary)
  const { host } = new URL(standby.url)
  return { primary, standby, url: primary.url.replace(/(@[^/]*)/, `$1,${host}`) }
}

/** Copies the files while the primary stands still: the programs for a copy while it runs are not in the npm package. */
async function startStandby(t: TestContext, primary: OwnPostgres): Promise<Standby> {
  const user = await serverUser()
  const folder = await newFolder(tmpdir())
  const data = join(folder, 'data')
  t.after(guard(data, folder))
  const own = async (path: string) => {
    if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid)
  }
  await own(folder)
  const from = await dataFolderOf(primary)
  await primary.stop('fast')
  await promisify(execFile)('cp', ['-Rp', from, data])
  await primary.start()
  const { hostname, port, username, password } = new URL(primary.adminUrl)
  const upstream = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`
  await makeStandby(data, upstream)
  await own(join(data, SIGNAL))
  const run = await postgresPrograms(folder, user)
  const ownPort = await freePort()
  const at = (url: string) => {
    const changed = new URL(url)
    changed.port = String(ownPort)
    return changed.href
  }
  const control = (...args: string[]) => run('pg_ctl', ['--wait', '-D', data, ...args])
  const start = () => control('start', '-l', join(folder, 'log'), '-o', `-p ${ownPort}`)
  await start()
  return {
    url: at(primary.url),
    adminUrl: at(primary.adminUrl),
    start,
    stop: () => control('stop', '-m', 'fast'),
    promote: () => control('promote'),
  }
}

const SIGNAL = 'standby.signal'

async function makeStandby(dataFolder: string, upstream: string): Promise<void> {
  await appendFile(join(dataFolder, 'postgresql.auto.conf'), `\nprimary_conninfo = '${upstream}'\n`)
  await writeFile(join(dataFolder, SIGNAL), '')
}

/** Makes a server that is stopped come back as one that only follows, here a primary that is gone. */
export const demote = (dataFolder: string): Promise<void> => makeStandby(dataFolder, 'host=127.0.0.1 port=1')

export const dataFolderOf = async ({ adminUrl }: { adminUrl: string }): Promise<string> => {
  const [row] = await asAdmin(adminUrl, 'show data_directory')
  return String(row?.data_directory)
}

/** Runs one statement as superuser. */
export async function asAdmin(adminUrl: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement)
    return rows
  } finally {
    await client.end()
  }
}
