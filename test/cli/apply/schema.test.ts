import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { wantedClients } from '../../../src/cli/apply/wanted.ts'
import { wantedUsers } from '../../../src/cli/apply/wanted-users.ts'
import { YamlFile } from '../../../src/cli/apply/yaml-file.ts'
import { PROBE_TYPES } from '../../../src/probes/index.ts'
import { REPOSITORY } from '../../../testkit/repository.ts'
import { EVERYTHING } from './support.ts'

const SCHEMA = JSON.parse(await readFile(join(REPOSITORY, 'contract/config.schema.json'), 'utf8')) as object
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(SCHEMA)

test('the published schema takes a file with something of everything, with its variables', () => {
  assert.ok(isValid(parse(EVERYTHING)), JSON.stringify(isValid.errors))
})

test('the example of the documentation is a file, for the schema and for the program', async () => {
  const page = await readFile(join(REPOSITORY, 'docs/config-as-code.md'), 'utf8')
  const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  assert.ok(isValid(parse(example)), JSON.stringify(isValid.errors))
  const environment = { ACME_CHAT_WEBHOOK: 'https://hooks.slack.com/x', ACME_PAGERDUTY: '0123456789abcdef' }
  const [client] = wantedClients([new YamlFile('example.yaml', example, environment)])
  assert.equal(client?.fields.chat_webhook, environment.ACME_CHAT_WEBHOOK)
  const users = wantedUsers([new YamlFile('example.yaml', example, environment)])
  assert.deepEqual(
    users?.map(({ email }) => email),
    ['ada@agency.example', 'bea@agency.example'],
  )
})

const site = (probe: string) =>
  `clients: [{ name: A, sites: [{ name: S, url: "https://s.example", probes: [${probe}] }] }]`

const REFUSED: readonly [what: string, text: string][] = [
  ['a misspelt field', 'clients: [{ name: A, nmae: B }]'],
  ['a client without a name', 'clients: [{ plan: pro }]'],
  ['a plan that is none', 'clients: [{ name: A, plan: gold }]'],
  ['a pattern that is broken', 'clients: [{ name: A, quiet_from: late }]'],
  ['a type of probe that is none', site('{ type: ping }')],
  ['a setting that the type does not have', site('{ type: push, config: { window_minutes: 5 } }')],
  ['a role that is none', 'clients: []\nusers: [{ email: a@b.example, roles: [{ all_clients: true, role: boss }] }]'],
  ['a setting of another type', site('{ type: data_volume, config: { false_alarms: [] } }')],
]

for (const [what, text] of REFUSED) {
  test(`the published schema refuses ${what}`, () => {
    assert.equal(isValid(parse(text)), false)
  })
}

test('the published schema knows every type of probe, and null for each of its settings', () => {
  for (const { name, config } of PROBE_TYPES) {
    const settings = Object.keys(config.properties).map((setting) => `${setting}: null`)
    assert.ok(isValid(parse(site(`{ type: ${name}, config: { ${settings.join(', ')} } }`))), name)
  }
})
