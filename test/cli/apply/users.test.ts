import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { UserRecord } from '../../../src/accounts/index.ts'
import { exportAll } from '../../../src/cli/apply/run.ts'
import { systemClock } from '../../../src/lib/index.ts'
import { apiClient, bearer } from '../../../testkit/api.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { runCliHere } from '../../../testkit/processes/command-here.ts'
import { startTestService } from '../../../testkit/service.ts'
import { ADMIN, startApplying } from './support.ts'

const PEOPLE = `
clients:
  - name: Acme
  - name: Beta
users:
  - email: Ada@agency.example
    name: Ada
    roles:
      - { all_clients: true, role: owner }
  - email: bea@agency.example
    roles:
      - { client: Acme, role: editor }
      - { client: Beta, role: viewer }
  - email: cleo@agency.example
    roles: [{ all_clients: true, role: viewer }, { client: Beta, role: owner }]
`

interface Stage extends Awaited<ReturnType<typeof startApplying>> {
  /** Who may do what, by the names of clients. */
  roles: () => Promise<Record<string, string>>
  users: () => Promise<UserRecord[]>
}

async function open(t: Parameters<typeof startApplying>[0]): Promise<Stage> {
  const stage = await startApplying(t)
  const users = () => stage.ask<UserRecord[]>('/api/users')
  const roles = async () => {
    const clients = new Map(
      (await stage.ask<{ id: string; name: string }[]>('/api/clients')).map((one) => [one.id, one.name]),
    )
    return Object.fromEntries(
      (await users()).map((user) => [
        user.email,
        user.roles
          .map(({ client_id, role }) => `${role} of ${client_id === null ? 'all' : clients.get(client_id)}`)
          .sort()
          .join(', '),
      ]),
    )
  }
  return { ...stage, users, roles }
}

const idOf = async (stage: Stage, email: string) => (await stage.users()).find((user) => user.email === email)?.id

test('whom a file names is invited with roles, by a link that is said once and works', async (t) => {
  const stage = await open(t)
  const plan = await stage.applyText(PEOPLE, { plan: true })
  assert.equal(plan.code, 2)
  assert.deepEqual(plan.lines.slice(2, 5), [
    '+ user “Ada@agency.example”: owner of all clients',
    '+ user “bea@agency.example”: editor of “Acme”, viewer of “Beta”',
    '+ user “cleo@agency.example”: owner of “Beta”, viewer of all clients',
  ])
  assert.ok(!plan.lines.join('\n').includes('#'))
  assert.deepEqual(await stage.users(), [])

  const { code, lines } = await stage.applyText(PEOPLE)
  assert.equal(code, 0)
  const links = lines.flatMap(
    (line) => /^Invited (\S+), with a link that works once, until \S+: (\S+)$/.exec(line) ?? [],
  )
  assert.equal(lines.filter((line) => line.includes('#')).length, 3)
  assert.deepEqual(await stage.roles(), {
    'Ada@agency.example': 'owner of all',
    'bea@agency.example': 'editor of Acme, viewer of Beta',
    'cleo@agency.example': 'owner of Beta, viewer of all',
  })
  const secret = links[2]?.split('#')[1]
  const used = await apiClient(stage.service.url).call('POST', '/api/password-links/use', {
    secret,
    password: 'correct horse battery staple',
  })
  assert.equal(used.status, 204)

  const audit = await stage.ask<object[]>('/api/audit?limit=1000')
  for (const prune of [false, true]) {
    assert.deepEqual(await stage.applyText(PEOPLE, { prune }), { code: 0, lines: ['Nothing to change.'] })
  }
  assert.deepEqual(await stage.ask('/api/audit?limit=1000'), audit)
})

test('the link of an invitation is printed before later changes are made, as an interrupted run would lose it', async (t) => {
  const stage = await open(t)
  const text = (role: string, more = '') => `clients: []
users: [{ email: bea@agency.example, roles: [{ all_clients: true, role: ${role} }] }${more}]`
  await stage.applyText(text('owner'))
  const onLine = (line: string) => {
    if (line.startsWith('Invited ada@agency.example, with a link')) throw new Error('interrupted')
  }
  const invited = ', { email: ada@agency.example, roles: [{ all_clients: true, role: owner }] }'
  await assert.rejects(stage.applyText(text('viewer', invited), { onLine }), /^Error: interrupted$/)
  assert.equal((await stage.roles())['bea@agency.example'], 'owner of all')
})

test('a plan shows whose roles change, and who is in no file stays unless pruned', async (t) => {
  const stage = await open(t)
  await stage.applyText(PEOPLE)
  const changed = PEOPLE.replace('role: editor', 'role: owner')
    .replace('    name: Ada', '    name: Ada L.')
    .replace(/ {2}- email: cleo[\s\S]*/, '')
  const kept = await stage.applyText(changed)
  assert.deepEqual(kept.lines, [
    '~ user “Ada@agency.example”',
    '    name: Ada → Ada L.',
    '~ user “bea@agency.example”',
    '    roles: editor of “Acme”, viewer of “Beta” → owner of “Acme”, viewer of “Beta”',
    '= 1 in no file, left as they are (--prune deletes them):',
    '    user “cleo@agency.example”',
    '0 to create, 2 to change, 0 to delete.',
    'Done: 0 created, 2 changed, 0 deleted.',
  ])
  const pruned = await stage.applyText(changed, { prune: true })
  assert.deepEqual(pruned.lines.slice(0, 1), ['- user “cleo@agency.example”, and ends their sessions'])
  assert.deepEqual(await stage.roles(), {
    'Ada@agency.example': 'owner of all',
    'bea@agency.example': 'owner of Acme, viewer of Beta',
  })
  // Without the list no one is meant, and what is not given stays.
  assert.deepEqual((await stage.applyText('clients: [{ name: Acme }, { name: Beta }]', { prune: true })).lines, [
    'Nothing to change.',
  ])
  const named = 'clients: [{ name: Acme }, { name: Beta }]\nusers: [{ email: BEA@agency.example, is_active: false }]'
  assert.deepEqual((await stage.applyText(named)).lines.slice(0, 2), [
    '~ user “bea@agency.example”',
    '    is_active: true → false',
  ])
  assert.equal((await stage.users()).find(({ email }) => email === 'bea@agency.example')?.status, 'disabled')
})

test('spaces around the name of a person are no difference', async (t) => {
  const stage = await open(t)
  const spaced = PEOPLE.replace('name: Ada', 'name: " Ada "')
  assert.equal((await stage.applyText(spaced)).code, 0)
  assert.equal((await stage.users()).find(({ email }) => email === 'Ada@agency.example')?.name, 'Ada')
  assert.deepEqual((await stage.applyText(spaced)).lines, ['Nothing to change.'])
  assert.equal((await stage.applyText(spaced.replace(' Ada ', ' Ada L. '))).code, 0)
})

test('an owner hands over to another in one go, and a client that goes takes its roles along', async (t) => {
  const stage = await open(t)
  await stage.applyText(PEOPLE)
  const handedOver = `
clients: [{ name: Beta }]
users:
  - email: ada@agency.example
    roles: [{ client: Beta, role: viewer }]
  - email: bea@agency.example
    roles: [{ client: Beta, role: viewer }]
  - email: zoe@agency.example
    roles: [{ all_clients: true, role: owner }]
`
  const { lines } = await stage.applyText(handedOver, { prune: true })
  assert.equal(lines.at(-1), 'Done: 1 created, 1 changed, 2 deleted.')
  assert.deepEqual(await stage.roles(), {
    'Ada@agency.example': 'viewer of Beta',
    'bea@agency.example': 'viewer of Beta',
    'zoe@agency.example': 'owner of all',
  })
})

test('the last owner and the person who applies the files are neither deleted nor demoted, and nothing else is done then', async (t) => {
  const stage = await open(t)
  await stage.applyText(PEOPLE)
  const without = (email: string) => PEOPLE.replace(new RegExp(` {2}- email: ${email}[\\s\\S]*?(?= {2}- email|$)`), '')
  const lastOwner = /no owner of all clients would be left: name one in the files/
  await assert.rejects(stage.applyText(without('Ada'), { prune: true }), lastOwner)
  await assert.rejects(stage.applyText(PEOPLE.replace('role: owner }\n', 'role: editor }\n')), lastOwner)
  await assert.rejects(stage.applyText(PEOPLE.replace('name: Ada', 'is_active: false')), lastOwner)

  const password = 'correct horse battery staple'
  await accept(stage, 'Ada@agency.example', password)
  const session = await stage.service.call('POST', '/api/session', { email: 'ada@agency.example', password })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const ada = apiClient(stage.service.url, { cookie, origin: stage.service.url })
  const { token } = await ada.ask<{ token: string }>('POST', '/api/tokens', { name: 'pipeline', role: 'owner' })
  // Another owner is there now, so it is only about oneself.
  const owners = PEOPLE.replace('[{ all_clients: true, role: viewer }', '[{ all_clients: true, role: owner }')
  assert.equal((await stage.applyText(owners, { token })).code, 0)
  const lowered = owners.replace('role: owner }\n', 'role: editor }\n')
  await assert.rejects(
    stage.applyText(lowered, { token }),
    /clients\.yaml:6:5: user “Ada@agency\.example” is the person who applies this/,
  )
  const gone = owners.replace(/ {2}- email: Ada[\s\S]*?(?= {2}- email)/, '')
  await assert.rejects(
    stage.applyText(gone, { token, prune: true }),
    /is the person who applies this, and is in no file: --prune would delete/,
  )
  assert.equal((await stage.roles())['Ada@agency.example'], 'owner of all')
  const before = await stage.ask('/api/audit')
  await assert.rejects(
    stage.applyText(gone.replace('users:', '  - name: Gamma\nusers:'), { prune: true }),
    /no owner of all clients who has accepted the invitation would be left/,
  )
  assert.deepEqual(await stage.ask('/api/audit'), before)
  await accept(stage, 'cleo@agency.example', password)
  assert.equal((await stage.applyText(gone, { prune: true })).code, 0)
})

/** Someone who was invited sets a password by a link. */
async function accept(stage: Stage, email: string, password: string): Promise<void> {
  const id = await idOf(stage, email)
  const link = await stage.service.call('POST', `/api/users/${id}/link`, undefined, bearer(ADMIN))
  const secret = link.json<{ url: string }>().url.split('#')[1]
  await apiClient(stage.service.url).ask('POST', '/api/password-links/use', { secret, password })
}

test('a fault in the list of people is said with its place, and changes nothing', async (t) => {
  const stage = await open(t)
  const users = (text: string) => `clients: [{ name: Acme }]\nusers:\n  - ${text}`
  for (const [text, says] of [
    ['{ email: nobody }', /clients\.yaml:3:7: email must/],
    ['{ email: a@b.example }', /has no account yet: an invited person needs a role$/],
    ['{ email: a@b.example, roles: [{ role: owner }] }', /give one$/],
    ['{ email: a@b.example, roles: [{ client: Acme, all_clients: true, role: owner }] }', /give one$/],
    ['{ email: a@b.example, roles: [{ client: , role: owner }] }', /client must be/],
    ['{ email: a@b.example, roles: [{ client: Gone, role: owner }] }', /there is no client “Gone”$/],
    ['{ email: a@b.example, roles: [{ client: Acme, role: boss }] }', /role must be one of/],
    [
      '{ email: a@b.example, roles: [{ client: Acme, role: viewer }, { client: " Acme", role: owner }] }',
      /“Acme” is named twice$/,
    ],
    [
      '{ email: a@b.example }\n  - { email: A@B.example }',
      /there is another user “a@b\.example” \(.*\): name them once$/,
    ],
  ] as const) {
    await assert.rejects(stage.applyText(users(text)), says, text)
  }
  assert.deepEqual(await stage.ask('/api/clients'), [])
  // An owner of one client sees of people only what is of it.
  await stage.applyText('clients: [{ name: Acme }]')
  const [client] = await stage.ask<{ id: string }[]>('/api/clients')
  const body = { name: 'of one', role: 'owner', client_ids: [client?.id] }
  const { token } = (await stage.service.call('POST', '/api/tokens', body, bearer(ADMIN))).json<{ token: string }>()
  await assert.rejects(
    stage.applyText(users('{ email: a@b.example, roles: [{ client: Acme, role: viewer }] }'), { token }),
    /users need the token of an owner of all clients/,
  )
})

test('people who are exported make an empty service answer as the first does', async (t) => {
  const one = await open(t)
  await one.applyText(PEOPLE)
  const folder = join(await tempDir(t), 'exported')
  await exportAll({ url: one.service.url, token: ADMIN, folder })
  assert.deepEqual((await one.applyPaths([folder], { prune: true })).lines, ['Nothing to change.'])
  const two = await open(t)
  assert.equal((await two.applyPaths([folder])).code, 0)
  assert.deepEqual(await two.roles(), await one.roles())
  const names = async ({ users }: Stage) =>
    (await users()).map(({ email, name, status }) => [email, name, status]).sort()
  assert.deepEqual(await names(two), await names(one))
})

test('the export of a service that is open says of no one that they are left out', async (t) => {
  const { url } = await startTestService(t, systemClock)
  const { code, out, err } = await runCliHere(t, ['export', '--url', url])
  assert.equal(code, 0)
  assert.deepEqual(err, [])
  assert.equal(out.at(-1), 'clients: []')
})
