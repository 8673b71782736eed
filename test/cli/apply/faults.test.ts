import assert from 'node:assert/strict'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Api } from '../../../src/cli/apply/api.ts'
import { wantedClients } from '../../../src/cli/apply/wanted.ts'
import { YamlFile } from '../../../src/cli/apply/yaml-file.ts'
import { CHANGES_AT_ONCE, ChangeLimit } from '../../../src/http/access/change-limit.ts'
import { VERSION } from '../../../src/version.ts'
import { bearer } from '../../../testkit/api.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { runCliHere } from '../../../testkit/processes/command-here.ts'
import { ADMIN, OWNER, startApplying, VIEWER } from './support.ts'

const NO_PEOPLE = { wanted: null, present: [], callers: [] }

const FAULTS: readonly [what: string, text: string, says: RegExp][] = [
  ['a file without clients', 'sites: []', /^a\.yaml:1:1: .*problems|clients is required/],
  ['an empty file', '', /a\.yaml:1:1: must have a list of clients/],
  ['what is no YAML', 'clients:\n  - name: "Acme', /^a\.yaml:\d+:\d+: /],
  [
    'a field that is none',
    'clients:\n  - name: Acme\n    nmae: x',
    /^a\.yaml:3:5: nmae is not a field that can be set here$/,
  ],
  [
    'a value of another type',
    'clients:\n  - name: Acme\n    reminder_minutes: soon',
    /^a\.yaml:3:5: reminder_minutes must be a whole number or null$/,
  ],
  ['a missing field', 'clients:\n  - name: Acme\n    sites:\n      - name: Shop', /^a\.yaml:4:9: url is required$/],
  [
    'a type of probe that is none',
    'clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [{ type: ping }] }] }]',
    /type must be one of http_health, /,
  ],
  [
    'two clients of one name',
    'clients:\n  - name: Acme\n  - name: " Acme "',
    /^a\.yaml:3:5: there is another client “Acme” \(a\.yaml:2\): give it another name$/,
  ],
  [
    'two probes of one type without names',
    'clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [{ type: push }, { type: push }] }] }]',
    /another probe “.*”.*, or a name of its own$/,
  ],
  ['a key that stands twice', 'clients:\n  - name: Acme\n    name: Beta', /^a\.yaml:3:5: /],
  [
    'a variable that is not set',
    `clients:\n  - name: Acme\n    email: \${NOBODY}`,
    /^a\.yaml:3:5: NOBODY is not set in the environment$/,
  ],
  [
    'a variable that is empty',
    `clients:\n  - name: Acme\n    email: \${EMPTY}`,
    /^a\.yaml:3:5: EMPTY is empty in the environment$/,
  ],
  [
    'half a variable',
    `clients:\n  - name: "Acme \${"`,
    /is not a variable: write \$\{NAME\}, or \$\$\{ for the two characters$/,
  ],
  [
    'automatic probes beside a list',
    'clients: [{ name: A, sites: [{ name: S, url: "https://s.example", auto_probes: true, probes: [] }] }]',
    /cannot be combined/,
  ],
  [
    'aliases that make a file endless',
    `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\nclients: [*d,*d,*d]`,
    /alias/,
  ],
  [
    'what holds itself',
    'clients:\n  - &a\n    name: A\n    sites: [*a]',
    /^a\.yaml:4:13: \*a is inside what it repeats$/,
  ],
  [
    'a second document',
    'clients: []\n---\nclients: []',
    /^a\.yaml:2:1: a second document begins here: make it a file of its own$/,
  ],
]

for (const [what, text, says] of FAULTS) {
  test(`${what} is refused with file, line, column and what was expected`, () => {
    assert.throws(() => wantedClients([new YamlFile('a.yaml', text, { EMPTY: '' })]), { message: says })
  })
}

test('a file that is not UTF-8 is refused, before its names are taken for others', async (t) => {
  const { applyPaths, folder, write } = await startApplying(t)
  const [path = ''] = await write({ 'latin.yaml': '' })
  for (const encoding of ['latin1', 'utf16le'] as const) {
    await writeFile(
      path,
      Buffer.from('\uFEFFclients:\n  - name: Müller'.slice(encoding === 'latin1' ? 1 : 0), encoding),
    )
    await assert.rejects(applyPaths([path], { plan: true, prune: true }), {
      message: `${join(folder, 'latin.yaml')} is not UTF-8: save it in this encoding`,
    })
  }
})

test('a file that is nested deeper than it can be read is named', async (t) => {
  const { applyPaths, write } = await startApplying(t)
  const [path = ''] = await write({ 'deep.yaml': `clients: ${'['.repeat(20_000)}${']'.repeat(20_000)}` })
  await assert.rejects(
    applyPaths([path], { plan: true }),
    /^ConfigProblems: \S+deep\.yaml:1:\d+: the file is nested too deeply$/,
  )
})

test('every faulty client is named at once', () => {
  const text = 'clients:\n  - name: Acme\n    plan: gold\n  - name: Beta\n    digest: hourly'
  assert.throws(() => wantedClients([new YamlFile('a.yaml', text, {})]), {
    message: /^2 problems\na\.yaml:3:5: plan must be one of .*\na\.yaml:5:5: digest must be one of .*$/,
  })
})

test('anchors and merge keys say once what many have', () => {
  const text = `clients:\n  - name: A\n    sites:\n      - &shop { name: S, url: "https://s.example", timezone: Europe/Berlin }\n      - { <<: *shop, name: T }`
  const [client] = wantedClients([new YamlFile('a.yaml', text, {})])
  assert.deepEqual(
    client?.sites?.map(({ name, fields }) => [name, fields.timezone]),
    [
      ['S', 'Europe/Berlin'],
      ['T', 'Europe/Berlin'],
    ],
  )
})

test('what the service would refuse is said with its place in the file, before anything changes', async (t) => {
  const { applyText } = await startApplying(t)
  const text = `clients:
  - name: Acme
    quiet_from: "22:00"
    sites:
      - name: Shop
        url: https://shop.example
  - name: Beta
    plan: free
    events_per_month: 5`
  await assert.rejects(applyText(text), {
    message:
      /^2 problems\n.*clients\.yaml:2:5: quiet_to must be given together with the other end.*\n.*clients\.yaml:9:5: events_per_month can only be set with plan enterprise$/,
  })
  const probe = `clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [
    { type: data_volume, config: { window: 5 } } ] }] }]`
  await assert.rejects(applyText(probe), /clients\.yaml:2:36: window is not a field that can be set here/)
  await assert.rejects(applyText(probe.replace('window: 5', 'direction: sideways')), {
    message: /^[^\n]*clients\.yaml:2:36: direction must be one of down, up, both$/,
  })
  const needs =
    'clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [{ type: http_health }] }] }]'
  await assert.rejects(applyText(needs), {
    message: /^[^\n]*clients\.yaml:1:\d+: http_health needs a site with tag_server_url$/,
  })
})

test('a plan refuses what the caller may not do, or what is more than a client may have', async (t) => {
  const { applyText, ask, service } = await startApplying(t)
  await applyText('clients: [{ name: Acme, plan: pro, sites: [] }]')
  const [acme] = await ask<{ id: string }[]>('/api/clients')
  const tokenWith = async (body: object) => {
    const made = await service.call('POST', '/api/tokens', { name: 'Pipeline', ...body }, bearer(ADMIN))
    return made.json<{ token: string }>().token
  }
  const ofAcme = await tokenWith({ role: 'editor', client_ids: [acme?.id] })
  const sites = Array.from({ length: 501 }, (_, n) => `{ name: S${n}, url: "https://s.example" }`)
  await assert.rejects(
    applyText(`clients:\n  - name: Acme\n    plan: free\n    sites: [${sites}]\n  - name: Beta`, {
      token: ofAcme,
      plan: true,
    }),
    {
      message: new RegExp(
        [
          '^3 problems',
          '.*:3:5: only an editor of all clients can change plan of a client',
          '.*:2:5: the client would have 501 sites, and can have 500: leave some out',
          '.*:5:5: only an editor of all clients can create a client$',
        ].join('\n'),
      ),
    },
  )
  await assert.rejects(
    applyText('clients: [{ name: Beta }]', { token: await tokenWith({ role: 'editor' }), plan: true, prune: true }),
    /^ConfigProblems: only an owner of client “Acme” can delete it, and no file names it$/,
  )
  const works = Array.from(
    { length: 501 },
    (_, n) => `{ title: W${n}, kind: weekly, weekdays: [1], start: "03:00", duration_minutes: 5 }`,
  )
  await assert.rejects(
    applyText(`clients: [{ name: Acme, maintenance: [${works}] }]`, { plan: true }),
    /would have 501 maintenance windows, and can have 500/,
  )
})

test('a name that one entry gives up and another has is refused, as the next run could not tell which is which', () => {
  const text = `clients: [{ name: A, sites: [
    { name: New, renamed_from: Old, url: "https://s.example" }, { name: Old, url: "https://s.example" } ] }]`
  assert.throws(() => wantedClients([new YamlFile('a.yaml', text, {})]), {
    message: 'a.yaml:2:18: another site is or was called “Old”: remove renamed_from, or the other site',
  })
})

test('a service of another minor version is named in one line, and is no error', async (t) => {
  const answers: Record<string, unknown> = {
    '/api/session': { role: 'admin', access: { all: 'owner', clients: [] } },
    '/api/settings': { version: '9.9.3' },
  }
  const url = await startAnswering(t, ({ url: path = '' }, response) =>
    response.end(JSON.stringify(answers[path] ?? [])),
  )
  const { write } = await startApplying(t)
  const [file = ''] = await write({ 'a.yaml': 'clients: []' })
  const { code, out, err } = await runCliHere(t, ['apply', file, '--url', url, '--token', ADMIN])
  assert.deepEqual([code, out], [0, ['Nothing to change.']])
  assert.match(err.join('\n'), /^tagwarden: this is version \S+ and the service runs 9\.9\.3: use the same, [^\n]*$/)
  answers['/api/settings'] = { version: VERSION }
  assert.deepEqual((await runCliHere(t, ['apply', file, '--url', url, '--token', ADMIN])).err, [])
})

test('types and kinds cannot change, and names that the service has twice are not clear', async (t) => {
  const { applyText, service, change, ask } = await startApplying(t)
  const site = (probe: string) =>
    `clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [${probe}] }] }]`
  await applyText(site('{ type: push, name: Job }'))
  await assert.rejects(applyText(site('{ type: data_volume, name: Job }')), /is of type push, which cannot change/)
  await service.call('POST', '/api/clients', { name: 'A' }, bearer(ADMIN))
  await assert.rejects(applyText(site('')), /the service has 2 clients with the name “A”: rename one there/)
  const [, second] = await ask<{ id: string }[]>('/api/clients')
  await change('DELETE', `/api/clients/${second?.id}`)
  assert.equal((await applyText(site(''))).code, 0)
})

test('a token that does not see everything is refused before anything is compared', async (t) => {
  const { applyText, service } = await startApplying(t)
  const text = 'clients: [{ name: A }]'
  const made = await service.call('POST', '/api/tokens', { name: 'Reads', role: 'viewer' }, bearer(ADMIN))
  for (const token of [VIEWER, made.json<{ token: string }>().token]) {
    await assert.rejects(applyText(text, { token }), /a viewer's token does not see all fields/)
  }
  await assert.rejects(applyText(text, { token: 'wrong-token-0123456789' }), /The key is not valid \(TAGWARDEN_TOKEN\)/)
  await assert.rejects(
    applyText(text, { token: `${ADMIN}\r\nx` }),
    /^StartupError: the token is empty, or has characters/,
  )
  assert.equal((await applyText('clients: []', { token: `${ADMIN}\n` })).code, 0)
})

test('what is no Tagwarden service is said to be none', async (t) => {
  const { write, applyPaths, service } = await startApplying(t)
  const paths = await write({ 'a.yaml': 'clients: [{ name: A }]' })
  const { apply } = await import('../../../src/cli/apply/run.ts')
  const at = (url: string, token: string | null = null) =>
    apply({ paths, plan: true, prune: false, environment: {}, url, token, print: () => 0 })
  await assert.rejects(
    at(await startAnswering(t, (_request, response) => response.end('<html>'))),
    /is it a Tagwarden service\?/,
  )
  const leading = (locationOf: (path?: string) => string) =>
    startAnswering(t, ({ url }, response) => response.writeHead(301, { location: locationOf(url) }).end())
  const moved = await leading((path) => `https://x.example${path}`)
  await assert.rejects(at(moved), /redirects to https:\/\/x\.example: give this as --url$/)
  const signIn = await leading(() => 'https://login.example/')
  await assert.rejects(at(signIn), /redirects to https:\/\/login\.example\/: is it a Tagwarden service\?$/)
  const below = /\/api is not the address of the service: give it without a path such as \/api or \/ingest$/
  await assert.rejects(at(`${service.url}/api`), below)
  await assert.rejects(at(`${service.url}/api`, ADMIN), below)
  await assert.rejects(applyPaths(['/nowhere/a.yaml']), /there is no such file or folder/)
})

test('a folder is read through its links, without what is hidden, and a file that cannot be read is named', async (t) => {
  const { applyPaths, folder, write } = await startApplying(t)
  // As Kubernetes mounts a ConfigMap.
  await write({
    'config/..2026_11_30/a.yaml': 'clients: [{ name: A }]',
    'config/.git/hook.yaml': 'none: of ours',
    'elsewhere/b.yaml': 'clients: [{ name: B }]',
    'elsewhere/more/c.YML': 'clients: [{ name: C }]',
  })
  const config = join(folder, 'config')
  await symlink('..2026_11_30', join(config, '..data'))
  await symlink('..data/a.yaml', join(config, 'a.yaml'))
  await symlink('../elsewhere/b.yaml', join(config, 'b.yaml'))
  await symlink('../elsewhere/more', join(config, 'more'))
  await symlink('.', join(config, 'round'))
  const { lines } = await applyPaths([config], { prune: true })
  assert.equal(lines.at(-1), 'Done: 3 created, 0 changed, 0 deleted.')
  await symlink('nowhere', join(config, 'd.yaml'))
  await assert.rejects(applyPaths([config], { prune: true }), {
    name: 'StartupError',
    message: `${join(config, 'd.yaml')} cannot be read: ENOENT`,
  })
})

test('what someone else changes between plan and change is not overwritten', async (t) => {
  const { service, applyText, ask } = await startApplying(t)
  await applyText('clients: [{ name: A, digest: daily }]')
  const { Api } = await import('../../../src/cli/apply/api.ts')
  const { planOf } = await import('../../../src/cli/apply/plan.ts')
  const { readPresent } = await import('../../../src/cli/apply/present.ts')
  const { carryOut } = await import('../../../src/cli/apply/carry-out.ts')
  const api = new Api({ url: service.url, token: ADMIN })
  const wanted = wantedClients([new YamlFile('a.yaml', 'clients: [{ name: A, digest: weekly }]', {})])
  const present = await readPresent(api, () => ({ channels: false, statusPage: false }), Date.now())
  const plan = planOf(wanted, present, {
    api,
    ...{ caller: OWNER, defaultPlan: null },
    prune: false,
    now: Date.now(),
    logoOf: () => undefined,
    people: NO_PEOPLE,
  })
  const [client] = await ask<{ id: string }[]>('/api/clients')
  const byHand = { digest: 'off', email: 'a@a.example' }
  await service.call('PATCH', `/api/clients/${client?.id}`, byHand, bearer(ADMIN))
  await assert.rejects(carryOut(api, plan.changes), /client “A”.*has just been changed by someone else: run it again/)
  assert.partialDeepStrictEqual(await ask('/api/clients'), [byHand])
})

test('a creation that the service could not answer is made again under the same key', async (t) => {
  const keys: unknown[] = []
  const url = await startAnswering(t, ({ headers }, response) => {
    keys.push(headers['idempotency-key'])
    response.writeHead(keys.length === 1 ? 503 : 201).end('{}')
  })
  const api = new Api({ url, token: null })
  for (const name of ['A', 'B']) await api.send('POST', '/api/clients', { name })
  const [first, again, next] = keys
  assert.ok(typeof first === 'string' && first === again && first !== next, keys.join())
})

test('a run that reaches the limit of changes waits as asked and goes on', async (t) => {
  const { applyText, ask, service } = await startApplying(t)
  const { take } = ChangeLimit.prototype
  const used = new WeakSet<ChangeLimit>()
  let refused = 0
  // Six changes are left at first.
  t.mock.method(ChangeLimit.prototype, 'take', function (this: ChangeLimit, holder: string) {
    if (!used.has(this)) for (let n = 6; n < CHANGES_AT_ONCE; n++) take.call(this, holder)
    used.add(this)
    try {
      take.call(this, holder)
    } catch (thrown) {
      refused++
      throw thrown
    }
  })
  const made = await service.call('POST', '/api/tokens', { name: 'Pipeline', role: 'editor' }, bearer(ADMIN))
  const { token } = made.json<{ token: string }>()
  const names = Array.from({ length: 12 }, (_, n) => `{ name: C${n} }`)
  const { code, lines } = await applyText(`clients: [${names}]`, { token })
  assert.deepEqual([code, lines.at(-1)], [0, 'Done: 12 created, 0 changed, 0 deleted.'])
  assert.ok(refused > 0)
  assert.equal((await ask<object[]>('/api/clients')).length, 12)
})
