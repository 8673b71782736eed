import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { parse } from 'yaml'
import { systemClock } from '../../src/lib/index.ts'
import { placeFor, sqlite, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'
import { startTestService } from '../../testkit/service.ts'
import { samplesOf } from '../operations/prometheus-text.ts'

const text = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}

const { groups } = parse(text('docs/prometheus/tagwarden.rules.yml')) as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

interface Panel {
  id: number
  type: string
  title: string
  datasource?: { uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; datasource: { uid: string } }[]
}

const dashboard = JSON.parse(text('docs/grafana/tagwarden.json')) as {
  title: string
  uid: string
  panels: Panel[]
  templating: { list: { name: string; type: string; definition?: string }[] }
}
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.map(({ definition = '' }) => definition),
]

const NAME = /\b(?:tagwarden|nodejs|process)_[a-z0-9_]+(?![a-z0-9_{]*\()/g
/** Made by what scrapes. */
const namesIn = (source: string): string[] => [...new Set(source.match(NAME) ?? [])]
/** prom-client reads these from /proc. */
const isOfLinux = (name: string): boolean => /^process_(max_fds|open_fds|resident|virtual|heap)/.test(name)

/** Every metric of a running service, and its samples. With everything set, so that every part runs. */
async function metricsOf(t: TestContext, engine: TestEngine) {
  const place = await placeFor(engine, t)
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', SMTP_FROM: 'alerts@example.com' }
  const { call } = await startTestService(t, systemClock, { ...place, ...mail })
  const { text: body } = await call('GET', '/metrics')
  const names = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  return { names: new Set(names), samples: samplesOf(body) }
}

test('every metric that the dashboard, the alert rules and the docs name is one that the service tells', async (t) => {
  const { names, samples } = await metricsOf(t, sqlite)
  const isUnknown = (name: string) => !names.has(name) && !(process.platform !== 'linux' && isOfLinux(name))
  const SOURCES = { rules: expressions.join('\n'), docs: text('docs/operations.md') }
  for (const [source, content] of Object.entries(SOURCES)) {
    const named = namesIn(content)
    assert.ok(named.length > 15, source)
    // `process_…` of the docs ends at the dots.
    assert.deepEqual(
      named.filter((name) => name.length > 'tagwarden_'.length && isUnknown(name)),
      [],
      source,
    )
  }
  const own = [...names].filter((name) => name.startsWith('tagwarden_') && !/_(bucket|sum|count)$/.test(name))
  const explained = namesIn(SOURCES.docs)
  assert.deepEqual(
    own.filter((name) => !explained.includes(name)),
    [],
    'metrics that the docs do not explain',
  )

  const results = new Set(samples.flatMap(({ labels }) => labels.result ?? []))
  const asked = [...SOURCES.rules.matchAll(/result=~?"([^"]+)"/g)].flatMap(([, values = '']) => values.split('|'))
  assert.ok(asked.length > 3)
  assert.deepEqual(
    asked.filter((value) => !results.has(value)),
    [],
    'answers of ingest',
  )
})

testPerEngine('the docs name the background loops that there are', async (engine, t) => {
  const { samples } = await metricsOf(t, engine)
  const loops = samples
    .filter(({ name }) => name === 'tagwarden_loop_lag_seconds')
    .map(({ labels }) => labels.loop ?? '')
  const row = /^\| `tagwarden_loop_lag_seconds.*$/m.exec(text('docs/operations.md'))?.[0] ?? ''
  const [always = '', shared = ''] = (row.split('|')[2] ?? '').split('with PostgreSQL also')
  const named = (part: string) => [...part.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
  const expected = engine === sqlite ? named(always) : [...named(always), ...named(shared)]
  assert.deepEqual(loops.sort(), expected.sort())
  const known = [...row.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
  for (const name of ['roll-up', 'retention']) assert.ok(known.includes(name))
})

test('an alert says what is wrong and what to do', () => {
  assert.ok(rules.length >= 15)
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, expr, for: lasting, labels, annotations } of rules) {
    assert.match(alert, /^Tagwarden[A-Z]\w+$/)
    assert.match(labels.severity, /^(warning|critical)$/, alert)
    assert.ok(annotations.summary.length > 10 && annotations.description.length > 30, alert)
    assert.doesNotMatch(annotations.summary, /\.$/, alert)
    assert.match(annotations.description, /\.$/, alert)
    // What looks back over a time needs no other.
    assert.ok(lasting !== undefined || /(increase|changes)\(/.test(expr), alert)
    assert.match(expr, /job="tagwarden"/, alert)
  }
})

test('the dashboard asks the data source that is chosen, and lays no panel over another', () => {
  const names = dashboard.templating.list.map(({ name }) => name)
  assert.deepEqual(names, ['datasource', 'job', 'instance'])
  const shown = dashboard.panels.filter(({ type }) => type !== 'row')
  assert.ok(shown.length >= 20)
  for (const { title, datasource, targets = [] } of shown) {
    assert.ok(targets.length > 0, title)
    for (const one of [datasource, ...targets.map((target) => target.datasource)]) {
      assert.equal(one?.uid, `\${datasource}`, title)
    }
    for (const { expr } of targets) assert.match(expr, /job=~"\$job", instance=~"\$instance"/, title)
  }
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
  for (const [n, { gridPos: a, title }] of dashboard.panels.entries()) {
    assert.ok(a.x + a.w <= 24, title)
    for (const { gridPos: b } of dashboard.panels.slice(n + 1)) {
      assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, title)
    }
  }
})
