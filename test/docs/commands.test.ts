import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { systemClock } from '../../src/lib/index.ts'
import { apiClient, bearer } from '../../testkit/api.ts'
import { tempDir } from '../../testkit/engines.ts'
import { PROGRAM_OF_SOURCES, REPOSITORY } from '../../testkit/repository.ts'
import { startTestService } from '../../testkit/service.ts'
import { type Block, shellBlocks } from './blocks.ts'

const BLOCKS = shellBlocks()
const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'

/** The README's tour, which is one script. */
const TOUR = [
  'README.md: API=http://127.0.0.1:8080',
  `README.md: curl $API/ingest -H "X-Service-Key: $KEY" --json '{`,
  'README.md: curl -s $API/api/monitoring/sites/$ID/overview',
]

/** Blocks that run here against a service with a token, each by itself, and what their output shows. */
const RUN: readonly [name: string, shows: RegExp][] = [
  ['docs/analytics.md: curl -fsS https://tagwarden.example.com/api/annotations \\', /"text":"Shop release 12"/],
  ['docs/analytics.md: curl -fsS https://tagwarden.example.com/api/sites/…/reference-counts \\', /"hours":2/],
  ['docs/migrating.md: npm run tagwarden -- send --key KEY --key-header X-Service-Key', /^200 \{"status":"ok"\}/m],
  [
    'docs/migrating.md: curl -fsS -m 10 --retry 5 -o /dev/null "https://watch.example/push/TOKEN?status=up&msg=OK&ping="',
    /^$/,
  ],
  ['docs/probes.md: curl -fsS -m 10 --retry 5 -o /dev/null https://watch.example/push/TOKEN        # it ran', /^$/],
  [
    'docs/sharing.md: curl -X POST   -H "Authorization: Bearer $ADMIN_TOKEN" https://tagwarden.example.com/api/clients/$CLIENT_ID/status-link',
    /"token":"[\w-]{43}"/,
  ],
  [
    'docs/tag.md: curl -OJ -H "Authorization: Bearer $ADMIN_TOKEN" https://tagwarden.example.com/api/sites/$SITE_ID/template.tpl',
    /^$/,
  ],
]

/** Blocks that do not run here: why, and the file that runs the same. */
const ELSEWHERE: readonly [name: string, why: string, file: string][] = [
  [
    'README.md: npm start   # installs what is missing, migrates, listens on http://127.0.0.1:8080',
    'the whole suite would run within itself',
    '.ci/run',
  ],
  [
    'docs/citus.md: export DATABASE_URL=postgres://tagwarden:…@coordinator.internal:5432/tagwarden',
    'needs a coordinator, which TEST_CITUS_URL gives',
    'test/cli/migrate.test.ts',
  ],
  [
    'docs/detection.md: npm run -s tagwarden -- backtest --csv events.csv --timezone Europe/Berlin > judged.csv',
    'needs series with labels, which are made there',
    'test/cli/backtest-labels.test.ts',
  ],
  ['docs/index.md: npm run demo', 'takes a minute', 'test/cli/demo/demo.test.ts'],
  [
    'docs/index.md: npm run tagwarden -- init   # asks four questions and writes a .env',
    'asks on a terminal, and does not end',
    'test/cli/init.test.ts',
  ],
  [
    'docs/operations.md: tagwarden backup /backup/tagwarden-$(date +%F).db',
    'writes into a folder of its own there',
    'test/cli/backup.test.ts',
  ],
  [
    'docs/operations.md: docker compose exec tagwarden node bin/tagwarden.mjs backup /data/backup.db',
    'needs a container engine',
    'test/cli/backup.test.ts',
  ],
  [
    'docs/operations.md: tagwarden restore /backup/tagwarden-2026-11-20.db',
    'restores into a folder of its own there',
    'test/cli/backup.test.ts',
  ],
  ['docs/operations.md: docker compose stop tagwarden', 'needs a container engine', 'test/cli/backup.test.ts'],
  [
    'docs/operations.md: export DATABASE_URL=postgres://tagwarden:…@db.example.com/tagwarden',
    'needs a PostgreSQL, which is started there',
    'test/cli/migrate-copy.test.ts',
  ],
  [
    'docs/postgresql.md: DATABASE_URL=postgres://tagwarden:…@db.internal:5432/tagwarden npm start',
    'needs a PostgreSQL, which is started there',
    'test/cli/serve.test.ts',
  ],
  [
    'docs/reliability.md: npm run chaos -- --write   # faults: kills, full and slow disks, clocks, PostgreSQL that restarts or goes silent',
    'takes half an hour',
    'trials/test/chaos.test.ts',
  ],
  [
    'docs/tag.md: node scripts/layout-gallery.ts ../tagwarden-gtm-template --homepage https://… --documentation https://…',
    'writes beside the repository',
    'test/tag/gallery.test.ts',
  ],
  [
    'docs/access.md: curl -X POST -H "Authorization: Bearer $ADMIN_TOKEN" -H \'Content-Type: application/json\' \\',
    'needs a service with a key, which is started there',
    'test/accounts/users.test.ts',
  ],
  [
    'docs/config-as-code.md: export TAGWARDEN_URL=https://tagwarden.example.com TAGWARDEN_TOKEN=…   # ADMIN_TOKEN, or an API token of an editor or owner',
    'needs a service, which is started there',
    'test/cli/apply/apply.test.ts',
  ],
  [
    'docs/config-as-code.md: npm run -s tagwarden -- export > clients.yaml',
    'needs a service, which is started there',
    'test/cli/apply/apply.test.ts',
  ],
  [
    "docs/deploy.md: docker buildx imagetools inspect ghcr.io/OWNER/tagwarden:0.1.0 --format '{{json .Provenance}}'",
    'needs a published image',
    'test/package/image.test.ts',
  ],
  [
    'docs/deploy.md: docker run --detach --name tagwarden --publish 127.0.0.1:8080:8080 --volume tagwarden:/data \\',
    'needs a container engine',
    'test/package/image.test.ts',
  ],
  [
    'docs/deploy.md: export DOMAIN=tagwarden.example.com ADMIN_TOKEN=$(openssl rand -hex 32)',
    'needs a container engine',
    'test/house/container.test.ts',
  ],
  [
    'docs/deploy.md: fly launch --copy-config --config deploy/fly.toml --no-deploy',
    'needs an account there',
    'test/package/image.test.ts',
  ],
  [
    'docs/deploy.md: gcloud run deploy tagwarden --image ghcr.io/OWNER/tagwarden:0.1.0 --port 8080 \\',
    'needs an account there',
    'test/package/image.test.ts',
  ],
  [
    'docs/deploy.md: kubectl create secret generic tagwarden --from-literal=ADMIN_TOKEN=$(openssl rand -hex 32)',
    'needs a cluster',
    'test/house/chart.test.ts',
  ],
  [
    'docs/deploy.md: npx tagwarden@0.1.0 demo      # two invented clients with four sites, to look at',
    'needs a published package; one is made there',
    'test/package/package.test.ts',
  ],
  [
    'docs/deploy.md: sudo npm install --prefix /opt/tagwarden tagwarden@0.1.0',
    'needs a published package; one is made there',
    'test/package/package.test.ts',
  ],
]

test('every shell command of the docs is run, or said why not and where it is', () => {
  const named = [...TOUR, ...RUN.map(([name]) => name), ...ELSEWHERE.map(([name]) => name)]
  assert.deepEqual([...new Set(BLOCKS.map(({ name }) => name))].sort(), named.toSorted())
  for (const [name, , file] of ELSEWHERE) assert.ok(existsSync(join(REPOSITORY, file)), `${name}: ${file} is gone`)
})

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
/** They do not come from npm; a machine without them can do everything else. */
const WITH_CURL = { skip: has('curl') && has('jq') ? false : 'curl and jq are not installed' }

const block = (name: string): Block[] => BLOCKS.filter((each) => each.name === name)

/** Runs a script as a reader's shell would, and fails with it. */
async function shell(t: TestContext, script: string, environment: Record<string, string> = {}) {
  const folder = await tempDir(t)
  await writeFile(join(folder, 'script.sh'), `set -euo pipefail\n${script}\n`)
  const env = { ...environment, PATH: process.env.PATH ?? '', HOME: folder }
  const { stdout } = await promisify(execFile)('bash', ['script.sh'], { cwd: folder, env })
  return { stdout, folder }
}

test('the tour of the README does what it says', WITH_CURL, async (t) => {
  const service = await startTestService(t, systemClock, { DEFAULT_PLAN: 'free' })
  const [begin = '', look = ''] = [TOUR[0], TOUR[2]].map((name) => block(name ?? '')[0]?.text ?? '')
  const sends = block(TOUR[1] ?? '')
  assert.equal(sends.length, 2)
  const script = [
    begin.replace('http://127.0.0.1:8080', service.url),
    ...sends.map(({ text }) => text),
    'echo; echo "$ID"',
  ]
  const { stdout } = await shell(t, script.join('\n'))
  assert.match(stdout, /^\{"status":"ok"\}\{"status":"ok"\}\n/)
  await service.service.ingest.flush()
  const id = stdout.trim().split('\n').at(-1) ?? ''
  const seen = await shell(t, look, { API: service.url, ID: id })
  const { total_events, tags, score } = JSON.parse(seen.stdout) as {
    total_events: number
    tags: { success_rate: number }[]
    score: Record<string, unknown>
  }
  assert.equal(total_events, 201)
  const shown = /"score": (\{.*?) \/\*/.exec(await readFile(join(REPOSITORY, 'README.md'), 'utf8'))?.[1]
  const parts = JSON.parse(`${shown}}`) as Record<string, unknown>
  assert.deepEqual(Object.fromEntries(Object.keys(parts).map((part) => [part, score[part]])), parts)
  assert.deepEqual(
    tags.map(({ success_rate }) => success_rate),
    [1, 17 / 21],
  )
})

for (const [name, shows] of RUN) {
  test(`${name} runs`, WITH_CURL, async (t) => {
    const { url } = await startTestService(t, systemClock, { ADMIN_TOKEN })
    const api = apiClient(url, bearer(ADMIN_TOKEN))
    const client = await api.newClient()
    const site = await api.newSite(client)
    const probe = await api.ask<{ id: string }>('POST', '/api/probes', {
      ...{ site_id: site.id, probe_type: 'push', name: 'Export' },
    })
    const push = await api.ask<{ token: string }>('GET', `/api/probes/${probe.id}/push`)
    const { text = '' } = block(name)[0] ?? {}
    const script = text
      .replaceAll('https://watch.example/push/TOKEN', `${url}/push/${push.token}`)
      .replaceAll('https://tagwarden.example.com', url)
      .replaceAll('sites/…/', `sites/${site.id}/`)
      .replace('"site_id":"…"', `"site_id":"${site.id}"`)
      .replaceAll('curl …', 'curl -fsS -m 10 -o /dev/null')
      .replace('your-job', 'echo done')
      .replace('npm run tagwarden --', `"${process.execPath}" "${PROGRAM_OF_SOURCES}"`)
      .replace('--key KEY', `--key ${site.ingest_key} --endpoint ${url}/ingest`)
    const { stdout } = await shell(t, script, {
      ...{ ADMIN_TOKEN, CLIENT_ID: client.id, SITE_ID: site.id },
      // Its link is withdrawn by the line before.
      TOKEN: 'withdrawn',
    })
    assert.match(stdout, shows)
  })
}
