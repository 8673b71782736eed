import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Api } from '../../../src/cli/apply/api.ts'
import { carryOut } from '../../../src/cli/apply/carry-out.ts'
import { planOf } from '../../../src/cli/apply/plan.ts'
import { readPresent } from '../../../src/cli/apply/present.ts'
import { wantedClients } from '../../../src/cli/apply/wanted.ts'
import { YamlFile } from '../../../src/cli/apply/yaml-file.ts'
import { bearer } from '../../../testkit/api.ts'
import { placeFor, testPerEngine } from '../../../testkit/engines.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { startCli } from '../../../testkit/processes/command-line.ts'
import { ADMIN, OWNER, startApplying } from './support.ts'

const numbered = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join()

const RELEASE = '{ title: Release, kind: weekly, weekdays: [2], start: "03:00", duration_minutes: 60 }'

/** Each leaves one more kind of thing to the race. */
const fileWith = (kinds: number) => `clients:
  - name: Acme${
    kinds < 1
      ? ''
      : `
    channels: [{ kind: email, name: Night, address: night@acme.example }]
    sites: [${numbered(8, (n) => `{ name: Site ${n}, url: "https://acme.example"${kinds < 2 ? '' : ', probes: [{ type: push }]'}${kinds < 3 ? '' : `, maintenance: [${RELEASE}]`} }`)}]`
  }
`

type Applying = Awaited<ReturnType<typeof startApplying>>

/** The changes of two runs that planned at the same time. */
async function plannedTwice({ service }: Applying, text: string) {
  const api = new Api({ url: service.url, token: ADMIN })
  const now = Date.now()
  const present = await readPresent(api, () => ({ channels: true, statusPage: false }), now)
  return [0, 1].map(() => {
    const people = { wanted: null, present: [], callers: [] }
    const options = { api, caller: OWNER, defaultPlan: null, prune: false, now, logoOf: () => undefined, people }
    return { api, ...planOf(wantedClients([new YamlFile('a.yaml', text, {})]), present, options) }
  })
}

async function namesIn({ ask }: Applying): Promise<string[]> {
  const [clients, sites, probes, maintenance] = await Promise.all([
    ask<{ id: string; name: string }[]>('/api/clients'),
    ask<{ name: string }[]>('/api/sites'),
    ask<{ site_id: string }[]>('/api/probes'),
    ask<{ site_id: string | null; title: string }[]>('/api/maintenance'),
  ])
  const channels = await ask<{ name: string }[]>(`/api/clients/${clients[0]?.id}/channels`)
  return [
    ...[...clients, ...sites, ...channels].map(({ name }) => name),
    ...probes.map(({ site_id }) => `probe of ${site_id}`),
    ...maintenance.map(({ site_id, title }) => `${title} of ${site_id}`),
  ]
}

testPerEngine('two runs that planned at the same time create nothing twice', async (engine, t) => {
  const applying = await startApplying(t, await placeFor(engine, t))
  for (const text of [0, 1, 2, 3].map(fileWith)) {
    const plans = await plannedTwice(applying, text)
    const runs = await Promise.allSettled(plans.map(({ api, changes }) => carryOut(api, changes)))
    for (const run of runs) {
      if (run.status === 'rejected') {
        assert.match(
          String(run.reason.message),
          /^\w+ “[^\n]* was created by another run since the plan\n\d+ of \d+ changes were made, and none is lost: run it again once that run has ended$/,
        )
      }
    }
    assert.ok(runs.some(({ status }) => status === 'rejected'))
    const names = await namesIn(applying)
    assert.deepEqual(names.toSorted(), [...new Set(names)].sort())
    assert.ok([0, 1].includes((await applying.applyText(text)).code))
    assert.deepEqual((await applying.applyText(text)).lines, ['Nothing to change.'])
  }
  assert.equal((await namesIn(applying)).length, 1 + 8 + 1 + 8 + 8)
})

testPerEngine('only_new refuses a name that another of the same owner has, and no other', async (engine, t) => {
  const { service, applyText, ask } = await startApplying(t, await placeFor(engine, t))
  await applyText(fileWith(3))
  const [client] = await ask<{ id: string }[]>('/api/clients')
  const [site] = await ask<{ id: string }[]>('/api/sites')
  const weekly = { kind: 'weekly', weekdays: [2], start: '03:00', duration_minutes: 60 }
  const creates: [path: string, field: 'name' | 'title', owner: object, body: object][] = [
    ['/api/clients', 'name', {}, {}],
    ['/api/sites', 'name', { client_id: client?.id }, { url: 'https://acme.example' }],
    ['/api/probes', 'name', { site_id: site?.id }, { probe_type: 'push' }],
    ['/api/maintenance', 'title', { site_id: site?.id }, weekly],
    ['/api/maintenance', 'title', { client_id: client?.id }, weekly],
    [`/api/clients/${client?.id}/channels`, 'name', {}, { kind: 'email', address: 'a@acme.example' }],
  ]
  for (const [path, field, owner, body] of creates) {
    const create = (query: string, name: string) =>
      service.call('POST', `${path}${query}`, { ...owner, ...body, [field]: name }, bearer(ADMIN))
    const first = await create('?only_new=true', ' Other ')
    assert.equal(first.status, 201, first.text)
    const refused = await create('?only_new=true', 'Other')
    assert.equal(refused.status, 409)
    const message = `is already that of ${first.json<{ id: string }>().id}`
    assert.partialDeepStrictEqual(refused.json(), { error: 'conflict', details: [{ path: `/${field}`, message }] })
    assert.equal((await create('?only_new=true', 'Another')).status, 201)
    assert.equal((await create('', 'Other')).status, 201, 'without the parameter names may repeat')
  }
})

test('a service that does not know only_new is asked without it', async (t) => {
  const asked: unknown[] = []
  const url = await startAnswering(t, ({ url: path = '' }, response) => {
    asked.push(path)
    const details = [{ path: '/only_new', message: 'is not a parameter' }]
    if (path.includes('only_new')) {
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_request', message: 'unknown', details }))
    } else response.writeHead(201).end('{"id":"1"}')
  })
  const api = new Api({ url, token: null })
  for (const path of ['/api/sites?auto_probes=true', '/api/probes']) {
    assert.deepEqual(await api.create(path, {}), { id: '1' })
  }
  assert.deepEqual(asked, ['/api/sites?auto_probes=true&only_new=true', '/api/sites?auto_probes=true', '/api/probes'])
})

test('a run that was killed in the middle is completed by the next', async (t) => {
  const applying = await startApplying(t)
  const sites = numbered(45, (n) => `{ name: Site ${n}, url: "https://acme.example", probes: [{ type: push }] }`)
  const text = `clients: [{ name: Acme, sites: [${sites}] }]`
  const [file = ''] = await applying.write({ 'killed.yaml': text })
  const settings = { TAGWARDEN_URL: applying.service.url, TAGWARDEN_TOKEN: ADMIN }
  const { child, finished } = await startCli(t, ['apply', file], settings)
  let created = 0
  const { changes } = applying.service.service.store
  t.after(
    changes.subscribe(({ kind }) => {
      if (kind === 'site' && ++created === 10) child.kill('SIGKILL')
    }),
  )
  await finished
  const count = async () => (await applying.ask<object[]>('/api/sites')).length
  const left = 45 - (await count())
  assert.ok(left > 0 && left < 45, `${left} were left`)
  // What the killed run had under way may be created after this one has planned: then it asks to be run again.
  const next = await applying.applyText(text).catch(() => applying.applyText(text))
  assert.equal(next.code, 0)
  assert.deepEqual((await applying.applyText(text)).lines, ['Nothing to change.'])
  assert.equal(await count(), 45)
})

test('a rename is not made when something else has the name since the plan', async (t) => {
  const applying = await startApplying(t)
  const { applyText, ask, change } = applying
  const shop = (name: string, former: string, probe: string) =>
    `clients: [{ name: Acme, sites: [{ name: ${name}${former}, url: "https://acme.example", probes: [${probe}] }] }]`
  await applyText(shop('Old', '', '{ type: push, name: Old }'))
  const file = shop('New', ', renamed_from: Old', '{ type: push, name: New, renamed_from: Old }')
  const [plan] = await plannedTwice(applying, file)
  assert.ok(plan !== undefined)
  assert.equal(plan.changes.length, 2)
  const [site] = await ask<{ id: string; client_id: string }[]>('/api/sites')
  await change('POST', '/api/sites', { client_id: site?.client_id, name: 'New', url: 'https://new.example' })
  await change('POST', '/api/probes', { site_id: site?.id, probe_type: 'push', name: 'New' })
  for (const { what, ...rest } of plan.changes) {
    const carrying = carryOut(plan.api, [{ what, ...rest }])
    await assert.rejects(carrying, /has just been changed by someone else: run it again/, what)
  }
  assert.deepEqual((await namesIn(applying)).filter((name) => name === 'New').length, 1)
  await assert.rejects(applyText(file), /the service has both “Old” and “New”/)
})
