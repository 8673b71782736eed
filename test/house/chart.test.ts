import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseDocument, type YAMLMap } from 'yaml'
import { chartSchema, OWN_SETTINGS } from '../../scripts/chart-schema.ts'
import { readConfig, SETTINGS } from '../../src/config.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const CHART = join(REPOSITORY, 'deploy/helm/tagwarden')
const text = (path: string) => readFileSync(join(CHART, path), 'utf8')
const values = parse(text('values.yaml')) as Record<string, unknown>
const templates = globSync('templates/*', { cwd: CHART }).map((path) => ({ path, body: text(path) }))
const names = Object.values(SETTINGS).map(({ name }) => name)

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `a.b.c` in the values; undefined when there is no such value. */
const at = (path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), values)

/** What of the values a template uses, as `image.tag`. */
const usedBy = (body: string): string[] =>
  [...body.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1))

const allows = new Ajv({ strict: false, allErrors: true }).compile(chartSchema())

test('the chart is a chart', () => {
  const chart = parse(text('Chart.yaml')) as Record<string, unknown>
  assert.equal(chart.apiVersion, 'v2')
  assert.equal(chart.name, 'tagwarden')
  assert.equal(typeof chart.appVersion, 'string')
})

test('its default values, and those of its checks, are what its schema lets in', () => {
  assert.ok(allows(values), JSON.stringify(allows.errors))
  const files = globSync('ci/*-values.yaml', { cwd: CHART })
  assert.equal(files.length, 3)
  for (const file of files) assert.ok(allows(parse(text(file))), `${file}: ${JSON.stringify(allows.errors)}`)
})

for (const wrong of [
  { replica: 3 },
  { image: { repository: 'ghcr.io/OWNER/tagwarden' } },
  { engine: 'mysql' },
  { replicas: 0 },
  { settings: { LOGLEVEL: 'warn' } },
  { settings: { ADMIN_TOKEN: 'a secret among what is none' } },
  { secrets: { LOG_LEVEL: 'warn' } },
  { persistence: { size: 'ten' } },
]) {
  test(`its schema refuses ${JSON.stringify(wrong)}`, () => assert.equal(allows(wrong), false))
}

test('every value that a template uses is there, and every value that is there is used', () => {
  const used = new Set(templates.flatMap(({ body }) => usedBy(body)))
  assert.ok(used.size > 40)
  // Of maps of the user's own a template may name a key, as one of the settings.
  const known = (path: string) =>
    at(path) !== undefined || names.includes(/^(?:secrets|settings)\.(\w+)$/.exec(path)?.[1] ?? '')
  assert.deepEqual(
    [...used].filter((path) => !known(path)),
    [],
  )
  const leaves = (value: unknown, path: string): string[] =>
    isMap(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`))
      : [path]
  const isUsed = (path: string) => [...used].some((one) => one === path || path.startsWith(`${one}.`))
  assert.deepEqual(
    leaves(values, '').filter((path) => !isUsed(path)),
    [],
  )
})

test('every value is explained where it stands, on its own or together with those beside it', () => {
  const document = parseDocument(text('values.yaml'))
  const map = document.contents as YAMLMap
  const lines = text('values.yaml').split('\n')
  for (const { key } of map.items) {
    const name = String(key)
    const line = lines.findIndex((one) => one.startsWith(`${name}:`))
    const block =
      lines
        .slice(0, line + 1)
        .join('\n')
        .split('\n\n')
        .at(-1) ?? ''
    const own = lines.slice(line).join('\n').split('\n\n')[0] ?? ''
    assert.match(`${block}\n${own}`, /^\s*# ./m, name)
  }
})

test('every variable that it sets for a pod is a setting', () => {
  const set = templates.flatMap(({ body }) =>
    [...body.matchAll(/- name: ([A-Z][A-Z_]+)\n/g)].map(([, name]) => name ?? ''),
  )
  assert.deepEqual(set, ['PORT', 'PUBLIC_URL', 'TRUST_PROXY'])
  for (const name of [...set, ...OWN_SETTINGS]) assert.ok(names.includes(name), name)
})

test('it is refused without one of the ways to sign in with which the program starts, and with each it is not', () => {
  const [, rule = ''] = /define "tagwarden.requireSecrets"(.+?)\bfail "/s.exec(text('templates/_helpers.tpl')) ?? []
  const ways = usedBy(rule).flatMap((path) => /^\w+\.(\w+)$/.exec(path)?.[1] ?? [])
  const given: Record<string, string> = {
    ADMIN_TOKEN: 'a-token-of-16-characters',
    ALLOW_UNAUTHENTICATED: 'true',
    ADMIN_EMAIL: 'ada@example.com',
    OIDC_ISSUER: 'https://id.example.com',
    PROXY_EMAIL_HEADER: 'X-Forwarded-Email',
  }
  const along = {
    OIDC_ISSUER: { OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'x'.repeat(16) },
    PROXY_EMAIL_HEADER: { PROXY_ADDRESSES: '10.0.0.1' },
  }
  assert.deepEqual(ways.toSorted(), Object.keys(given).sort())
  for (const way of ways) readConfig({ HOST: '0.0.0.0', [way]: given[way], ...along[way as keyof typeof along] })
  assert.throws(() => readConfig({ HOST: '0.0.0.0' }), /set ADMIN_TOKEN/)
})

test('its secrets are those settings that are secret, and its settings the others', () => {
  const schema = chartSchema() as { properties: Record<'settings' | 'secrets', { properties: Record<string, object> }> }
  const [open, secret] = [schema.properties.settings, schema.properties.secrets].map((one) =>
    Object.keys(one.properties),
  )
  const expected = (isSecret: boolean) =>
    Object.values(SETTINGS).flatMap((one) =>
      one.secret === isSecret && !OWN_SETTINGS.includes(one.name) ? [one.name] : [],
    )
  assert.deepEqual(open, expected(false))
  assert.deepEqual(secret, expected(true))
  assert.ok(secret?.includes('DATABASE_URL'))
})

test('values.schema.json is as `npm run docs` writes it', () => {
  assert.deepEqual(JSON.parse(text('values.schema.json')), chartSchema())
})

test('a pod has no right that it does not need, and writes to its volumes alone', () => {
  const pod = text('templates/_helpers.tpl')
  for (const line of [
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'allowPrivilegeEscalation: false',
    'automountServiceAccountToken: false',
    'type: RuntimeDefault',
  ]) {
    assert.ok(pod.includes(line), line)
  }
  assert.match(pod, /drop:\n\s+- ALL\n/)
  const mounted = [...pod.matchAll(/mountPath: (\S+)/g)].map(([, path]) => path)
  assert.deepEqual(mounted, ['/data', '/tmp', '/app/node_modules/.cache/tagwarden'])
})

test('a pod of several goes on answering while the cluster learns that it ends', () => {
  const pod = text('templates/_helpers.tpl')
  const [, seconds = ''] =
    /eq \.Values\.engine "postgres"[^{]*preStop:[^{]*"node", "-e", "setTimeout\(\(\) => \{\}, (\d+)\d{3}\)"/.exec(
      pod,
    ) ?? []
  const [, grace = ''] = /terminationGracePeriodSeconds: (\d+)/.exec(pod) ?? []
  assert.ok(Number(seconds) > 0 && Number(grace) >= Number(seconds) + 20, `${seconds} of ${grace} s`)
})
