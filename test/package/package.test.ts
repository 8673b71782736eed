import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { SMALL_BODY } from '../../src/ingest/body.ts'
import { apiClient } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { AT_NIGHT, inTurn } from '../../testkit/length.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { ServerProcess, serve } from '../../testkit/processes/server-process.ts'
import { REPOSITORY } from '../../testkit/repository.ts'
import { until } from '../../testkit/until.ts'

const run = promisify(execFile)
/** What the package may take where it is installed, with all that it depends on, bytes. */
const MOST_BYTES = 40_000_000

interface Manifest {
  bin: { tagwarden: string }
  scripts?: object
  dependencies: Record<string, string>
  bundleDependencies: string[]
}

/** The package as npm would install it, and its manifest: it brings what it depends on, so nothing else is installed. */
async function install(t: TestContext) {
  const folder = join(await tempDir(t), 'node_modules/tagwarden')
  await run(process.execPath, [join(REPOSITORY, 'scripts/package.ts'), folder])
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  return { folder, manifest, program: join(folder, manifest.bin.tagwarden) }
}

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = files.map(async (file) => (file.isFile() ? (await stat(join(file.parentPath, file.name))).size : 0))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** The packages of which code is in the bundle, as its source maps say. */
async function codeOf(folder: string): Promise<Set<string>> {
  const server = join(folder, 'dist/server')
  const maps = (await readdir(server)).filter((file) => file.endsWith('.map'))
  const sources = await Promise.all(
    maps.map(async (file) => (JSON.parse(await readFile(join(server, file), 'utf8')) as { sources: string[] }).sources),
  )
  const names = sources.flat().flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [])
  return new Set(names)
}

test('the npm package runs without the sources', inTurn(0, 3), async (t) => {
  const { folder, manifest, program } = await install(t)

  await t.test('it installs nothing but pinned packages, runs no script for it, and is small', async () => {
    assert.equal(manifest.scripts, undefined)
    for (const version of Object.values(manifest.dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.deepEqual(manifest.bundleDependencies, Object.keys(manifest.dependencies))
    const files = await readdir(folder, { recursive: true })
    assert.deepEqual(
      files.filter((file) => /\.tsx?$/.test(file) && !file.startsWith('node_modules/')),
      [],
    )
    assert.deepEqual(
      files.filter((file) =>
        /^node_modules\/((?:@[^/]+\/)?[^/]+\/(test|examples?|\.github)(\/|$)|.*\.js\.map$)/.test(file),
      ),
      [],
    )
    const bytes = await sizeOf(folder)
    assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
  })

  await t.test('it has each file that the systemd unit and its instructions take from it', async () => {
    const texts = ['docs/deploy.md', 'deploy/tagwarden.service'].map((file) => readFile(join(REPOSITORY, file), 'utf8'))
    const taken = (await Promise.all(texts)).flatMap((text) => [
      ...text.matchAll(/\/opt\/tagwarden\/node_modules\/tagwarden\/(\S+)/g),
    ])
    assert.ok(taken.length >= 2, `${taken}`)
    for (const [, file = ''] of taken) assert.ok(existsSync(join(folder, file)), file)
  })

  await t.test('it names everyone whose code is in it, with the texts of their licences', async () => {
    const texts = await readFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
    const page = await readFile(join(folder, 'THIRD-PARTY.md'), 'utf8')
    const titles = [...texts.matchAll(/^-{80}\n(\S+) (\S+) \((.+)\)$/gm)]
    assert.ok(titles.length > 100, `${titles.length}`)
    assert.deepEqual(
      titles.filter(([, name, version]) => !page.includes(`| \`${name}\` | ${version} | `)).map(([title]) => title),
      [],
    )
    const named = new Set(titles.map(([, name]) => name))
    assert.deepEqual(
      [...(await codeOf(folder))].filter((name) => !named.has(name)),
      [],
    )
    for (const name of ['fastify', 'kysely', 'react', 'echarts']) assert.ok(named.has(name), name)
  })

  await t.test(
    'its threads read events, ask a tag server and write; its pages, documentation and template are there',
    async (t) => {
      const shop = await startAnswering(t, (_request, response) => response.end('ok'))
      const dataDir = await tempDir(t)
      const settings = { DATA_DIR: join(dataDir, 'data'), PORT: '0', OUTBOUND_ALLOW: '127.0.0.0/8' }
      const server = new ServerProcess({
        ...{ ...serve(settings), args: [program, 'serve'], port: 0 },
        ...{ folder: dataDir, logFolder: await tempDir(t) },
      })
      t.after(() => server.kill())
      await server.start()
      const api = apiClient(server.url)
      const site = await api.newSite(await api.newClient(), { tag_server_url: shop })
      const tags = Array.from({ length: 500 }, (_, n) => ({
        ...{ id: `${n}`, name: `Tag number ${n} of a large container`, status: 'success' as const, execution_time: 3 },
      }))
      const large = eventPayload({ timestamp_ms: Date.now(), tags })
      assert.ok(JSON.stringify(large).length > SMALL_BODY, 'it is read by the main thread')
      for (const payload of [eventPayload({ timestamp_ms: Date.now() }), large]) {
        const answer = await api.ingest(site, payload)
        assert.equal(answer.status, 200, answer.text)
      }
      await until('both are counted', async () => ((await api.totalEvents(site, 1)) === 2 ? true : undefined))
      const probe = { site_id: site.id, probe_type: 'http_health', name: 'Health', interval_seconds: 86_400 }
      const { id } = await api.ask<{ id: string }>('POST', '/api/probes', probe)
      assert.equal((await api.ask<{ status: string }>('POST', `/api/probes/${id}/run`)).status, 'ok')
      for (const path of ['/', '/api/docs/static/index.html', `/api/sites/${site.id}/template.tpl`]) {
        const page = await api.call('GET', path)
        assert.equal(page.status, 200, `${path}: ${page.text.slice(0, 200)}`)
      }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const tools = await api.call('POST', '/mcp', message, { accept: 'application/json, text/event-stream' })
      assert.match(tools.text, /list_sites/)
      assert.equal(await server.stop(), 0)
    },
  )
})

test('npm pack in the checkout leaves the package and not the sources', AT_NIGHT, async (t) => {
  const folder = await tempDir(t)
  await run('npm', ['pack', REPOSITORY], { cwd: folder })
  const [packed = '', ...others] = await readdir(folder)
  assert.deepEqual(others, [])
  const { stdout } = await run('tar', ['-tzf', packed], { cwd: folder })
  const files = stdout.split('\n')
  assert.ok(files.includes('package/dist/server/cli.mjs'))
  assert.ok(files.includes('package/web/dist/index.html'))
  assert.deepEqual(
    files.filter((file) => file.startsWith('package/src/')),
    [],
  )
})
