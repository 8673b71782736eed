import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportAll } from '../../../src/cli/apply/run.ts'
import { bearer } from '../../../testkit/api.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { runCliHere } from '../../../testkit/processes/command-here.ts'
import { ADMIN, EVERYTHING, SECRETS, startApplying, VIEWER } from './support.ts'

const withSecrets = { environment: SECRETS }

test('applied twice, the same file changes nothing the second time', async (t) => {
  const { applyText, ask } = await startApplying(t)
  const first = await applyText(EVERYTHING, withSecrets)
  assert.equal(first.code, 0)
  assert.match(first.lines.at(-1) ?? '', /^Done: 15 created, 1 changed, 0 deleted\.$/)
  const audit = await ask<object[]>('/api/audit?limit=1000')
  assert.deepEqual(await applyText(EVERYTHING, withSecrets), { code: 0, lines: ['Nothing to change.'] })
  // The probes that a site got by itself are in no list of the file, so they stay.
  const pruned = await applyText(EVERYTHING, { ...withSecrets, prune: true })
  assert.deepEqual(pruned, { code: 0, lines: ['Nothing to change.'] })
  assert.deepEqual(await ask('/api/audit?limit=1000'), audit)
})

test('a plan changes nothing, shows no secret, and ends with 2 when something would change', async (t) => {
  const { applyText, ask } = await startApplying(t)
  const plan = await applyText(EVERYTHING, { ...withSecrets, plan: true })
  assert.equal(plan.code, 2)
  assert.deepEqual(await ask('/api/clients'), [])
  await applyText(EVERYTHING, withSecrets)
  const other = Object.fromEntries(Object.entries(SECRETS).map(([name, value]) => [name, `${value}x`]))
  const changed = EVERYTHING.replace('plan: pro', 'plan: business').replace(
    'failure_threshold: 3',
    'failure_threshold: 4',
  )
  const { code, lines } = await applyText(changed, { environment: other, plan: true })
  assert.equal(code, 2)
  assert.deepEqual(lines, [
    '~ client “Acme”',
    `    chat_webhook: … → \${ACME_CHAT}`,
    '~ channel “On call” of “Acme”',
    `    address: … → \${ACME_PAGER}`,
    '~ channel “Signed” of “Acme”',
    '    address: … → …',
    '~ channel “Europe” of “Acme”',
    `    address: … → \${ACME_OPSGENIE}`,
    '~ probe “Front door” of “Shop” (“Acme”)',
    '    failure_threshold: 3 → 4',
    '~ probe “Tag server image” of “Shop” (“Acme”)',
    `    config.hosting_a_token: … → \${HOSTING}`,
    '~ client “Beta”',
    '    plan: pro → business',
    '0 to create, 7 to change, 0 to delete.',
  ])
  assert.equal((await applyText(changed, { environment: other })).code, 0)
  assert.deepEqual((await applyText(changed, { environment: other, plan: true })).code, 0)
})

test('a plan is shown as JSON for programs, with the place of each change and without secrets', async (t) => {
  const { applyText, applyPaths, write, change } = await startApplying(t)
  await applyText(EVERYTHING, withSecrets)
  await change('POST', '/api/clients', { name: 'Gamma' })
  const other = Object.fromEntries(Object.entries(SECRETS).map(([name, value]) => [name, `${value}x`]))
  const [file = ''] = await write({ 'clients.yaml': EVERYTHING })
  const { code, lines } = await applyPaths([file], { environment: other, plan: true, json: true })
  assert.equal(code, 2)
  assert.equal(lines.length, 1)
  const { changes, kept } = JSON.parse(lines.join()) as { changes: object[]; kept: string[] }
  assert.deepEqual(changes[0], {
    action: 'update',
    what: 'client “Acme”',
    fields: [{ name: 'chat_webhook', before: '…', after: `\${ACME_CHAT}` }],
    place: { file, line: 3, column: 5 },
  })
  assert.ok(kept.includes('client “Gamma”'))
  for (const secret of Object.values(other)) assert.ok(!lines.join().includes(secret))
  const nothing = await applyPaths([file], { ...withSecrets, plan: true, json: true })
  assert.equal(nothing.code, 0)
  assert.deepEqual(JSON.parse(nothing.lines.join()), { changes: [], kept })
  const applied = await runCliHere(t, ['apply', file, '--json'], {})
  assert.equal(applied.code, 1)
  assert.match(applied.err.join(), /--json needs --plan/)
})

test('a plan cuts the query of an address in the settings of a probe', async (t) => {
  const { applyText } = await startApplying(t)
  const file = (key: string) => `
clients:
  - name: Acme
    sites:
      - name: Shop
        url: https://shop.acme.example
        tag_server_url: https://sst.acme.example
        probes: [{ type: image_version, config: { version_url: "https://sst.acme.example/v?key=${key}" } }]
`
  await applyText(file('first-key'))
  const { lines } = await applyText(file('second-key'), { plan: true })
  assert.equal(lines[1], '    config.version_url: https://sst.acme.example/v?… → https://sst.acme.example/v?…')
})

test('names that come from the environment are shown as the file has them', async (t) => {
  const { applyText } = await startApplying(t)
  const environment = {
    CUSTOMER: 'Northwind',
    PERSON: 'ada@northwind.example',
    PAGER: 'R0123456789ABCDEF0123456789ABCDE',
  }
  const file = (more = '') => `
clients:
  - name: \${CUSTOMER} Ltd
    channels: [{ kind: pagerduty, name: "\${CUSTOMER} pager", address: "\${PAGER}" }]
    sites:
      - name: \${CUSTOMER} shop
        url: https://shop.example
        maintenance: [{ title: "\${CUSTOMER} release", kind: weekly, weekdays: [2], start: "03:00", duration_minutes: 60 }]
        probes: [{ type: data_volume, name: "\${CUSTOMER} volume"${more} }]
users:
  - email: \${PERSON}
    roles: [{ client: "\${CUSTOMER} Ltd", role: editor }]`
  const created = await applyText(file(), { environment, plan: true })
  assert.deepEqual(created.lines, [
    `+ client “\${CUSTOMER} Ltd”`,
    `+ channel “\${CUSTOMER} pager” of “\${CUSTOMER} Ltd”`,
    `+ site “\${CUSTOMER} shop” of “\${CUSTOMER} Ltd”`,
    `+ maintenance “\${CUSTOMER} release” of “\${CUSTOMER} shop” (“\${CUSTOMER} Ltd”)`,
    `+ probe “\${CUSTOMER} volume” of “\${CUSTOMER} shop” (“\${CUSTOMER} Ltd”)`,
    `+ user “\${PERSON}”: editor of “\${CUSTOMER} Ltd”`,
    '6 to create, 0 to change, 0 to delete.',
  ])
  await applyText(file(), { environment })
  const changed = await applyText(file(', failure_threshold: 2'), { environment, plan: true })
  assert.deepEqual(changed.lines, [
    `~ probe “\${CUSTOMER} volume” of “\${CUSTOMER} shop” (“\${CUSTOMER} Ltd”)`,
    '    failure_threshold: 1 → 2',
    '0 to create, 1 to change, 0 to delete.',
  ])
  const twice = file().replace('users:', `  - name: \${CUSTOMER} Ltd\nusers:`)
  await assert.rejects(applyText(twice, { environment }), (thrown: Error) => !thrown.message.includes('Northwind'))
})

test('a probe that asks another host is given its secret again, though the file has the same', async (t) => {
  const { applyText, ask } = await startApplying(t)
  const environment = { VERSION_TOKEN: 'a-token-of-the-host' }
  const at = (host: string, more = `version_token: "\${VERSION_TOKEN}"`) => `
clients:
  - name: Acme
    sites:
      - name: Shop
        url: https://shop.example
        probes: [{ type: image_version, config: { version_url: "https://${host}/version", ${more} } }]`
  assert.equal((await applyText(at('one.example'), { environment })).code, 0)
  const moved = await applyText(at('two.example'), { environment })
  assert.equal(moved.code, 0, moved.lines.join('\n'))
  const [probe] = await ask<{ config: { version_url: string }; secrets_set: string[] }[]>('/api/probes')
  assert.deepEqual([probe?.config.version_url, probe?.secrets_set], ['https://two.example/version', ['version_token']])
  await assert.rejects(
    applyText(at('three.example', ''), { environment }),
    /version_token was set for another address: give it again, or null/,
  )
})

test('viewers see no fingerprint of a secret', async (t) => {
  const { applyText, ask, service } = await startApplying(t)
  await applyText(EVERYTHING, withSecrets)
  const asViewer = async <T>(path: string) => (await service.call('GET', path, undefined, bearer(VIEWER))).json<T>()
  type Probe = { secrets_set: string[]; secret_fingerprints: object }
  const fingerprints = (probes: readonly Probe[]) => probes.flatMap((probe) => Object.keys(probe.secret_fingerprints))
  assert.deepEqual(fingerprints(await ask('/api/probes')), ['hosting_a_token'])
  assert.deepEqual(fingerprints(await asViewer('/api/probes')), [])
})

test('what a file does not give stays, and null clears it', async (t) => {
  const { applyText, ask, change } = await startApplying(t)
  await applyText('clients: [{ name: Acme, email: a@acme.example, sites: [{ name: Shop, url: "https://a.example" }] }]')
  const [client] = await ask<{ id: string }[]>('/api/clients')
  await change('PATCH', `/api/clients/${client?.id}`, { digest: 'weekly' })
  await applyText('clients: [{ name: Acme, reminder_minutes: 30 }]')
  assert.partialDeepStrictEqual(await ask('/api/clients'), [
    { email: 'a@acme.example', digest: 'weekly', reminder_minutes: 30 },
  ])
  await applyText('clients: [{ name: Acme, email: null }]')
  assert.partialDeepStrictEqual(await ask('/api/clients'), [{ email: null, digest: 'weekly' }])
  assert.equal((await ask<object[]>('/api/sites')).length, 1)
})

test('nothing is deleted without --prune, and with it only in lists that a file gives', async (t) => {
  const { applyText, ask } = await startApplying(t)
  await applyText(EVERYTHING, withSecrets)
  const names = async (path: string) => (await ask<{ name: string }[]>(path)).map(({ name }) => name)
  const less = `clients: [{ name: Acme, sites: [{ name: Shop, url: "https://shop.acme.example/?a=$\${b}", probes: [] }] }]`
  const kept = await applyText(less)
  assert.equal(kept.code, 0)
  // Probes are created side by side, often in one millisecond: their order is any.
  assert.deepEqual(
    [kept.lines[0], ...kept.lines.slice(1, 4).sort(), ...kept.lines.slice(4)],
    [
      '= 5 in no file, left as they are (--prune deletes them):',
      '    probe “Data volume” of “Shop” (“Acme”)',
      '    probe “Front door” of “Shop” (“Acme”)',
      '    probe “Tag server image” of “Shop” (“Acme”)',
      '    site “Blog” of “Acme”',
      '    client “Beta”',
      'Nothing to change.',
    ],
  )
  const pruned = await applyText(less, { prune: true })
  assert.equal(pruned.lines.at(-1), 'Done: 0 created, 0 changed, 5 deleted.')
  assert.deepEqual(
    [await names('/api/clients'), await names('/api/sites'), await names('/api/probes')],
    [['Acme'], ['Shop'], []],
  )
  const [client] = await ask<{ id: string }[]>('/api/clients')
  const channels = await ask<object[]>(`/api/clients/${client?.id}/channels`)
  assert.equal(channels.length, 6, 'the file gives no list of channels')
  await assert.rejects(applyText('clients: []', { prune: true }), /name no client, and --prune would delete all/)
})

test('a new name keeps the history when it says what it was called before', async (t) => {
  const { applyText, ask } = await startApplying(t)
  await applyText(
    'clients: [{ name: Acme, sites: [{ name: Shop, url: "https://a.example", probes: [{ type: push }] }] }]',
  )
  const ids = async () =>
    [await ask<{ id: string }[]>('/api/clients'), await ask<{ id: string }[]>('/api/sites')].flat().map(({ id }) => id)
  const before = await ids()
  const renamed = `clients: [{ name: Acme GmbH, renamed_from: Acme, sites: [
    { name: Store, renamed_from: Shop, url: "https://a.example" } ] }]`
  assert.deepEqual((await applyText(renamed)).lines, [
    '~ client “Acme GmbH”',
    '    name: Acme → Acme GmbH',
    '~ site “Store” of “Acme GmbH”',
    '    name: Shop → Store',
    '0 to create, 2 to change, 0 to delete.',
    'Done: 0 created, 2 changed, 0 deleted.',
  ])
  assert.deepEqual(await ids(), before)
  assert.deepEqual((await applyText(renamed)).lines, ['Nothing to change.'])
  await applyText('clients: [{ name: Acme }]')
  await assert.rejects(applyText(renamed), /clients\.yaml:1:30: the service has both “Acme” and “Acme GmbH”/)
})

test('a name is the same in composed and decomposed characters, and stays as the service has it', async (t) => {
  const { applyText, ask, change } = await startApplying(t)
  const text = (form: 'NFC' | 'NFD') =>
    `clients:
  - name: Müller
    channels: [{ kind: email, name: Büro, address: b@mueller.example }]
    maintenance: [{ title: Näharbeit, kind: weekly, weekdays: [2], start: "03:00", duration_minutes: 60 }]
    sites: [{ name: Café, url: "https://a.example", probes: [{ type: push, name: Lösung }] }]
users: [{ email: ada@mueller.example, roles: [{ client: Müller, role: editor }] }]`.normalize(form)
  await applyText(text('NFC'))
  const clients = await ask<{ id: string; name: string }[]>('/api/clients')
  assert.deepEqual(await applyText(text('NFD'), { prune: true }), { code: 0, lines: ['Nothing to change.'] })
  assert.deepEqual(
    (await ask<{ name: string }[]>('/api/clients')).map(({ name }) => name),
    ['Müller'.normalize('NFC')],
  )
  const changed = await applyText(text('NFD').replace(/- name: .*/u, (line) => `${line}\n    digest: daily`))
  assert.equal(changed.lines.at(-1), 'Done: 0 created, 1 changed, 0 deleted.')

  const twice = text('NFD').replace('users:', `  - name: ${'Müller'.normalize('NFC')}\nusers:`)
  await assert.rejects(applyText(twice), /there is another client “Müller” /)
  await change('POST', '/api/clients', { name: 'Müller'.normalize('NFD') })
  await assert.rejects(applyText(text('NFC')), /the service has 2 clients with the name “Müller”: rename one there/)
  await change('DELETE', `/api/clients/${clients[0]?.id}`)
  assert.equal((await applyText(text('NFC'))).lines.includes('+ client “Müller”'), false)
})

/** Ids, times and keys are given out anew, and probes have run in between. */
const GIVEN_OUT =
  /^(id|.*_id|.*_at|last_.*|judged|reason|consecutive_failures|channel|ingest_key|token|fingerprint|secret_fingerprints|next_occurrence)$/

function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !GIVEN_OUT.test(name))
  return Object.fromEntries(kept.map(([name, each]) => [name, settled(each)]))
}

/** They are made side by side, so their order is not that of the first service. */
const inOrder = <T>(list: readonly T[]): T[] =>
  list
    .map((each) => ({ each, text: JSON.stringify(settled(each)) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ each }) => each)

async function answersOf(ask: <T>(path: string) => Promise<T>): Promise<unknown> {
  const clients = inOrder(await ask<{ id: string }[]>('/api/clients'))
  const ofClients = clients.map(async ({ id }) => [
    inOrder(await ask<object[]>(`/api/clients/${id}/channels`)),
    await ask(`/api/clients/${id}/status-page`),
    await ask(`/api/clients/${id}/status-link`),
  ])
  const lists = ['/api/sites', '/api/probes', '/api/maintenance'].map(async (path) =>
    inOrder(await ask<object[]>(path)),
  )
  return settled([clients, await Promise.all(ofClients), await Promise.all(lists)])
}

/** A picture of one pixel. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('what is exported makes an empty service answer as the first does', async (t) => {
  const one = await startApplying(t)
  await mkdir(join(one.folder, 'pictures'))
  // The service keeps no text of an image, and a plan has to know that.
  const image = Buffer.from(LOGO, 'base64')
  const text = Buffer.concat([Buffer.from([0, 0, 0, 6]), Buffer.from('tEXtsecret'), Buffer.alloc(4)])
  await writeFile(
    join(one.folder, 'pictures/logo.png'),
    Buffer.concat([image.subarray(0, -12), text, image.subarray(-12)]),
  )
  const withLogo = EVERYTHING.replace('accent: "#2f5fd0"', 'accent: "#2f5fd0"\n      logo: pictures/logo.png')
  await one.applyText(withLogo, withSecrets)
  const folder = join(await tempDir(t), 'exported')
  await exportAll({ url: one.service.url, token: ADMIN, folder })

  const variables = {
    ACME_CHAT_WEBHOOK: SECRETS.ACME_CHAT,
    ACME_ON_CALL_ADDRESS: SECRETS.ACME_PAGER,
    ACME_SIGNED_ADDRESS: 'https://hooks.acme.example/in?key=abc',
    ACME_SIGNED_SECRET: SECRETS.ACME_SECRET,
    ACME_EUROPE_ADDRESS: SECRETS.ACME_OPSGENIE,
    ACME_SHOP_TAG_SERVER_IMAGE_HOSTING_A_TOKEN: SECRETS.HOSTING,
  }
  const same = await one.applyPaths([folder], { environment: variables, prune: true })
  assert.deepEqual(same, { code: 0, lines: ['Nothing to change.'] })

  const two = await startApplying(t)
  const applied = await two.applyPaths([folder], { environment: variables })
  assert.equal(applied.code, 0)
  assert.deepEqual(await answersOf(two.ask), await answersOf(one.ask))
  await assert.rejects(
    exportAll({ url: one.service.url, token: ADMIN, folder }),
    /tagwarden\.yaml exists: choose another folder/,
  )

  // What is someone's own, or in the way, is named and stays.
  await rm(join(folder, 'tagwarden.yaml'))
  await writeFile(join(folder, 'logos/acme.png'), 'own')
  const again = (to: string) => exportAll({ url: one.service.url, token: ADMIN, folder: to })
  await assert.rejects(again(folder), { name: 'StartupError', message: /acme\.png exists: choose another folder$/ })
  assert.equal(await readFile(join(folder, 'logos/acme.png'), 'utf8'), 'own')
  const inTheWay = join(folder, 'logos/acme.png')
  await assert.rejects(again(inTheWay), { name: 'StartupError', message: /cannot be written: (ENOTDIR|EEXIST)$/ })
})

test('export writes the schema or a folder, not both', async (t) => {
  const { code, out, err } = await runCliHere(t, ['export', '--schema', '--out', 'config'])
  assert.deepEqual({ code, out }, { code: 1, out: [] })
  assert.match(err.join('\n'), /option '--schema' cannot be used with option '--out/)
})
