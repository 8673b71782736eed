import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { followDockerfile, type Image, sizeOf } from '../../scripts/follow-dockerfile.ts'
import { apiClient, bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { freePort } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'

const MOST_BYTES = 180_000_000
const TOKEN = 'only-for-this-run'

/** Follows the steps on Linux with Debian's folders only: the C library of another is no stand-in for the image's. */
const HAS_LIBRARIES =
  process.platform === 'linux' && readdirSync('/usr/lib').some((name) => name.endsWith('-linux-gnu'))
const SKIPPED = HAS_LIBRARIES ? AT_NIGHT : { skip: 'needs a Linux with the folders of Debian' }

/**
 * Makes the image's files the whole file system of a process, read-only but for `/data`, and drops every right of root: what an engine
 * does with `--read-only --user 1000:1000 --cap-drop ALL`.
 */
const CONTAIN = `
set -e
root=$1 data=$2 folder=$3 user=$4 group=$5
shift 5
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec unshare --root "$root" --wd "$folder" --setgid "$group" --setuid "$user" "$@"
`

/** Whether this machine lets us do that: root, and not in a container that forbids mounting. */
function canContain(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', '--propagation', 'private', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

interface Started {
  child: ChildProcess
  log: () => string
}

function start(image: Image, data: string, args: readonly string[], settings: Record<string, string>): Started {
  const environment = { ...image.environment, ...settings }
  const contained = canContain()
  const [uid = '', gid = ''] = image.user.split(':')
  const [program = '', ...rest] = args
  const child = contained
    ? spawn(
        'unshare',
        [
          '--mount',
          '--propagation',
          'private',
          'sh',
          '-c',
          CONTAIN,
          'sh',
          image.root,
          data,
          image.folder,
          uid,
          gid,
          ...args,
        ],
        // The shell finds its programs by this path, the image's process its own.
        {
          env: { ...environment, PATH: `${environment.PATH}:/usr/bin:/bin:/usr/sbin:/sbin` },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
    : // What is left where nothing may be mounted: the image's own Node on the image's files.
      spawn(join(image.root, 'usr/local/bin', program), rest, {
        cwd: join(image.root, image.folder),
        env: { ...environment, DATA_DIR: data },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, log: () => text }
}

async function endOf(t: TestContext, { child, log }: Started): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  if (child.exitCode !== 0) t.diagnostic(log())
  return child.exitCode
}

const FILES = [
  'usr/local/bin/node',
  'lib64',
  'etc/nsswitch.conf',
  'app/bin/tagwarden.mjs',
  'app/THIRD-PARTY-LICENSES.txt',
]

test('what the Dockerfile makes runs as user 1000 on files that it cannot change', SKIPPED, async (t) => {
  const folder = await tempDir(t)
  const image = followDockerfile(folder, () => undefined)
  const data = await tempDir(t)

  await t.test('it is small, and has Node, its libraries and the package', () => {
    for (const path of FILES) assert.ok(existsSync(join(image.root, path)), path)
    const bytes = sizeOf(image.root)
    t.diagnostic(
      `${(bytes / 1e6).toFixed(1)} MB, of it Tagwarden ${(sizeOf(join(image.root, 'app')) / 1e6).toFixed(1)} MB`,
    )
    assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
    assert.ok(!existsSync(join(image.root, 'bin/sh')))
  })

  // An engine makes these for each container.
  for (const path of ['proc', 'dev']) mkdirSync(join(image.root, path))
  const [uid = 0, gid = 0] = image.user.split(':').map(Number)
  if (canContain()) chownSync(data, uid, gid)
  chmodSync(data, 0o700)

  await t.test('it takes events, is healthy, keeps them over a restart, and stops on a signal', async (t) => {
    const port = String(await freePort())
    const settings = { HOST: '127.0.0.1', PORT: port, ADMIN_TOKEN: TOKEN, CONNECTION_CHECK_URLS: 'off' }
    const api = apiClient(`http://127.0.0.1:${port}`, bearer(TOKEN))
    let site: { id: string } | undefined
    for (const round of [1, 2]) {
      const service = start(image, data, image.command, settings)
      t.after(() => service.child.kill('SIGKILL'))
      await until('it is healthy', async () => {
        if (service.child.exitCode !== null) throw new Error(service.log())
        const health = start(image, data, image.health, settings)
        return (await once(health.child, 'exit'))[0] === 0 ? true : undefined
      })
      if (canContain()) assert.deepEqual(statusOf(service.child), { Uid: `${uid}`, CapEff: '0000000000000000' })
      if (site === undefined) {
        const made = await api.newSite(await api.newClient())
        assert.equal((await api.ingest(made, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
        site = made
      }
      const { id } = site
      await until('it is counted', async () => ((await api.totalEvents({ id }, 1)) === 1 ? true : undefined))
      for (const path of ['/', '/api/docs/static/index.html', `/api/sites/${id}/template.tpl`]) {
        assert.equal((await api.call('GET', path)).status, 200, `${path}, start ${round}`)
      }
      service.child.kill('SIGTERM')
      assert.equal(await endOf(t, service), 0)
    }
  })

  await t.test('its command line works in it', async (t) => {
    const target = canContain() ? '/data/backup.db' : join(data, 'backup.db')
    const [node = ''] = image.command
    assert.equal(
      await endOf(t, start(image, data, [node, 'bin/tagwarden.mjs', 'backup', target], { ADMIN_TOKEN: TOKEN })),
      0,
    )
    assert.ok(statSync(join(data, 'backup.db')).size > 0)
  })
})

/** What the kernel says of a process. */
function statusOf({ pid }: ChildProcess): Record<string, string> {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(text)?.[1] ?? ''
  return { Uid: field('Uid'), CapEff: field('CapEff') }
}
