import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import type { UserRecord } from '../../../src/accounts/index.ts'
import { Api, type Caller } from '../../../src/cli/apply/api.ts'
import { planOf } from '../../../src/cli/apply/plan.ts'
import type { PresentClient } from '../../../src/cli/apply/present.ts'
import { wantedClients } from '../../../src/cli/apply/wanted.ts'
import { wantedUsers } from '../../../src/cli/apply/wanted-users.ts'
import { YamlFile } from '../../../src/cli/apply/yaml-file.ts'
import { PROBE_TYPES } from '../../../src/probes/index.ts'
import { amount } from '../../../testkit/length.ts'
import { Random } from '../../../testkit/random.ts'
import { OWNER, startApplying } from './support.ts'

type Fields = Record<string, unknown>

/** Some of these fields, each with one of its values. */
function some(
  random: Random,
  fields: Readonly<Record<string, readonly [unknown, ...unknown[]]>>,
  share = 0.25,
): Fields {
  const chosen = Object.entries(fields).filter(() => random.chance(share))
  return Object.fromEntries(chosen.map(([name, values]) => [name, random.pick(values)]))
}

function list<T>(random: Random, most: number, make: (n: number) => T): T[] {
  return Array.from({ length: most }, (_, n) => n)
    .filter(() => random.chance(0.5))
    .map(make)
}

const SETTINGS = {
  version_url: ['https://a.example/v', 'https://b.example/v', 'http://a.example/v', null],
  version_token: ['a-token-of-the-host', 'with a space', null],
  certificate_warning_days: [3, 10, 40, null],
  certificate_critical_days: [2, 20, null],
  warning_percent: [1, 50, null],
  critical_percent: [2, 40, null],
  direction: ['both', 'up', 'sideways'],
  period_minutes: [30, 0],
  unknown_setting: [5, null],
} as const

function maintenance(random: Random): Fields {
  const isOnce = random.chance(0.5)
  return {
    title: `Work ${random.below(3)}`,
    kind: isOnce ? 'once' : 'weekly',
    ...some(random, { starts_at: ['2126-01-01T00:00:00Z', '2126-01-03T00:00:00Z'] }, isOnce ? 0.95 : 0.03),
    ...some(
      random,
      { ends_at: ['2126-01-02T00:00:00Z', '2126-01-05T00:00:00Z', '2020-01-01T00:00:00Z'] },
      isOnce ? 0.95 : 0.03,
    ),
    ...some(
      random,
      { weekdays: [[1, 3], [7]], start: ['03:00', '23:30'], duration_minutes: [30, 60] },
      isOnce ? 0.02 : 0.97,
    ),
    ...some(random, { is_active: [true, false] }),
  }
}

/** By title: two of one name are refused at once, and would leave little to try. */
const byName = <T>(entries: readonly T[], nameOf: (entry: T) => unknown): T[] => [
  ...new Map(entries.map((entry) => [nameOf(entry), entry])).values(),
]
const work = (random: Random) => ({
  ...(random.chance(0.3)
    ? {
        maintenance: byName(
          list(random, 3, () => maintenance(random)),
          ({ title }) => title,
        ),
      }
    : {}),
})

/** What needs no setting, and little of its site. */
const EASY = ['push', 'data_volume', 'http_health', 'image_version', 'consent_signals', 'tag_failure_rate']

function probe(random: Random, n: number): Fields {
  const types = random.chance(0.9) ? PROBE_TYPES.filter(({ name }) => EASY.includes(name)) : PROBE_TYPES
  const type = random.pick(types as unknown as [(typeof PROBE_TYPES)[number]])
  const known = Object.fromEntries(
    Object.entries(SETTINGS).filter(([name]) => name in type.config.properties || random.chance(0.02)),
  )
  const config = some(random, known, 0.3)
  return {
    type: type.name,
    name: `${type.name} ${n}`,
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...some(random, { interval_seconds: [30, 300, 3_600], failure_threshold: [1, 3], is_active: [true, false] }, 0.1),
    ...work(random),
  }
}

function site(random: Random, n: number): Fields {
  return {
    name: `Site ${n}`,
    ...(random.chance(0.05) ? { renamed_from: `Site ${random.below(3)}` } : {}),
    url: 'https://acme.example',
    ...some(random, { average_order_value: [10, null], currency: ['EUR', 'USD', null] }, 0.08),
    ...some(random, { tag_server_url: ['https://sst.acme.example', null], timezone: ['UTC', 'Europe/Berlin'] }, 0.7),
    ...some(random, {
      tag_manager_web_container_id: ['GTM-ABC1234'],
      tag_manager_server_container_id: ['GTM-ABC1235'],
    }),
    ...(random.chance(0.6) ? { probes: list(random, 3, (at) => probe(random, at)) } : {}),
    ...work(random),
  }
}

function channel(random: Random, n: number): Fields {
  const kind = random.pick(['email', 'webhook', 'chat', 'pagerduty'])
  const address = {
    email: 'a@acme.example',
    webhook: 'https://hooks.acme.example/in',
    chat: 'https://hooks.slack.com/services/T000/B000/verysecret',
    pagerduty: '0123456789abcdef0123456789abcdef',
  }[kind]
  return {
    ...{ kind, name: `${kind} ${n}`, address: random.chance(0.05) ? 'nowhere' : address },
    ...some(
      random,
      { secret: ['a-secret-of-its-own-0123'], endpoint: ['https://events.eu.pagerduty.com/v2/enqueue'] },
      0.05,
    ),
    ...some(random, { warnings_after_minutes: [10, null] }, 0.1),
  }
}

const file = (random: Random): string => {
  const client = {
    name: 'Acme',
    ...some(random, { plan: ['pro', 'enterprise'], events_per_month: [5_000, null] }, 0.1),
    ...some(random, { quiet_from: ['22:00', null], quiet_to: ['22:00', '07:00', null] }, 0.08),
    ...(random.chance(0.15)
      ? { status_page: some(random, { shared: [true, false], accent: ['#2f5fd0', '#ffff00'] }, 0.5) }
      : {}),
    ...(random.chance(0.4) ? { channels: list(random, random.chance(0.1) ? 50 : 3, (n) => channel(random, n)) } : {}),
    sites: list(random, 3, (n) => site(random, n)),
    ...work(random),
  }
  return stringify({ clients: [client] })
}

test('what a plan accepts is carried out fully', async (t) => {
  const { applyText, ask, change } = await startApplying(t, { DEFAULT_PLAN: 'free' })
  let accepted = 0
  for (let seed = 1; seed <= amount(60, 600); seed++) {
    const random = new Random(seed)
    const text = file(random)
    const options = { prune: random.chance(0.3) }
    const planned = await applyText(text, { ...options, plan: true }).catch((thrown: Error) => {
      assert.match(thrown.message, /^.*(:\d+:\d+: | problems\n)/)
      return null
    })
    if (planned !== null) {
      accepted++
      const done = await applyText(text, options).catch((thrown: Error) => ({ code: 1, lines: [thrown.message] }))
      assert.equal(done.code, 0, `seed ${seed}: ${done.lines.join('\n')}\n${text}`)
    }
    // A new start now and then: creations have other rules than changes.
    if (random.chance(0.1)) {
      for (const { id } of await ask<{ id: string }[]>('/api/clients')) await change('DELETE', `/api/clients/${id}`)
    }
  }
  assert.ok(accepted > amount(10, 120), `only ${accepted} files were accepted`)
  t.diagnostic(`${accepted} files were accepted`)
})

test('a plan names the probes that auto_probes adds, and the limits that a smaller plan clears', async (t) => {
  const { applyText, ask } = await startApplying(t)
  const text = `clients:
  - name: Acme
    plan: enterprise
    requests_per_second: 50
    sites:
      - name: Shop
        url: https://shop.example
        tag_server_url: https://sst.shop.example
        auto_probes: true`
  const { lines } = await applyText(text)
  const probes = await ask<{ name: string }[]>('/api/probes')
  assert.ok(probes.length > 2)
  const [, named] = lines.map((line) => /^ {4}probes: none → (.*)$/.exec(line)).find((found) => found !== null) ?? []
  assert.deepEqual(named?.split(', ').sort(), probes.map(({ name }) => name).sort())

  const smaller = text.replace('enterprise', 'pro').replace('    requests_per_second: 50\n', '')
  const { lines: changed } = await applyText(smaller)
  assert.deepEqual(changed.slice(0, 3), [
    '~ client “Acme”',
    '    plan: enterprise → pro',
    '    requests_per_second: 50 → not set',
  ])
  assert.deepEqual((await applyText(smaller)).lines, ['Nothing to change.'])
})

interface Before {
  clients?: readonly PresentClient[]
  users?: readonly UserRecord[]
  caller?: Caller
}

function planFor(text: string, { clients = [], users = [], caller = OWNER }: Before) {
  const files = [new YamlFile('a.yaml', text, {})]
  return planOf(wantedClients(files), clients, {
    api: new Api({ url: 'http://127.0.0.1:9', token: null }),
    ...{ caller, defaultPlan: null, prune: false, now: 0, logoOf: () => undefined },
    people: { wanted: wantedUsers(files), present: users, callers: [] },
  })
}

test('a plan refuses more people than there can be accounts', () => {
  const users = Array.from({ length: 9_999 }, (_, n) => ({
    ...{ id: `u${n}`, email: `p${n}@agency.example`, name: 'P', status: 'active', group_roles: [] },
    roles: [{ client_id: null, role: 'owner' }],
  })) as unknown as UserRecord[]
  const inviting = (names: readonly string[]) =>
    `clients: []\nusers: [${names.map((name) => `{ email: ${name}@agency.example, roles: [{ all_clients: true, role: viewer }] }`)}]`
  assert.equal(planFor(inviting(['ada']), { users }).changes.length, 1)
  assert.throws(() => planFor(inviting(['ada', 'bea']), { users }), {
    message: 'there would be 10001 accounts, and there can be 10000: leave some out',
  })
})

test('a plan counts the probes that auto_probes adds like those that it lists', () => {
  const record = { id: 'c', name: 'Acme', plan: 'pro', quiet_from: null, quiet_to: null }
  const probes = Array.from({ length: 4_998 }, (_, n) => ({ record: { id: `p${n}`, name: `P${n}` }, maintenance: [] }))
  const old = { record: { id: 's', name: 'Old', url: 'https://old.example' }, probes, maintenance: [] }
  const clients = [
    { record, sites: [old], maintenance: [], channels: null, statusPage: null },
  ] as unknown as PresentClient[]
  const caller: Caller = { isOpen: false, all: null, owned: [], email: null }
  const automatic =
    '{ name: Shop, url: "https://shop.example", tag_server_url: "https://sst.example", auto_probes: true }'
  const listed = '{ name: Blog, url: "https://blog.example", probes: [{ type: push }] }'
  const planned = (...sites: string[]) => planFor(`clients: [{ name: Acme, sites: [${sites}] }]`, { clients, caller })
  assert.equal(planned(listed).changes.length, 2)
  const tooMany = /the client would have 50\d\d probes, and can have 5000: leave some out$/
  assert.throws(() => planned(automatic), tooMany)
  assert.throws(() => planned(automatic, listed), tooMany)
})
