import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWarning } from '../../../tag/sandbox/index.ts'
import { expectFinding } from './expect-finding.ts'
import { findingsOf, fixture, INFO, lineWith, PICTURE, permission, scenarios } from './fixture.ts'

const validated = (type: string, args?: unknown[]) => [{ type: 'TEXT', name: 'b', valueValidators: [{ type, args }] }]
const conditional = (paramName: string, type: string) => [
  { type: 'TEXT', name: 'b', enablingConditions: [{ paramName, paramValue: 1, type }] },
]

const FORM: readonly { what: string; parameters: unknown; says: RegExp; rule?: string }[] = [
  {
    what: 'a field that the code never reads',
    parameters: [
      { type: 'TEXT', name: 'b' },
      { type: 'TEXT', name: 'c' },
    ],
    says: /"c" is never read/,
    rule: 'style',
  },
  {
    what: 'a name twice',
    parameters: [
      { type: 'TEXT', name: 'b' },
      { type: 'TEXT', name: 'b' },
    ],
    says: /there twice/,
  },
  { what: 'an unknown type', parameters: [{ type: 'DATE', name: 'b' }], says: /DATE/ },
  { what: 'an unknown validator', parameters: validated('EMAIL'), says: /EMAIL/ },
  {
    what: 'a pattern without anchors',
    parameters: validated('REGEX', ['https://.+']),
    says: /anchored/,
    rule: 'style',
  },
  { what: 'a pattern that is none', parameters: validated('REGEX', ['^($']), says: /do not fit/ },
  { what: 'a length without bounds', parameters: validated('STRING_LENGTH', [1]), says: /do not fit/ },
  {
    what: 'a column with an unknown validator',
    parameters: [
      { type: 'SIMPLE_TABLE', name: 'b', simpleTableColumns: [{ name: 'c', valueValidators: [{ type: 'X' }] }] },
    ],
    says: /"b": X/,
  },
  {
    what: 'a key that no field has',
    parameters: [{ type: 'TEXT', name: 'b', valueValidator: [] }],
    says: /no key "valueV/,
  },
  {
    what: 'a select without choices',
    parameters: [{ type: 'SELECT', name: 'b' }],
    says: /needs a list in selectItems/,
  },
  {
    what: 'a choice without its text',
    parameters: [{ type: 'RADIO', name: 'b', radioItems: [{ value: 'x' }] }],
    says: /displayValue/,
  },
  {
    what: 'a group of an unknown style',
    parameters: [{ type: 'GROUP', name: 'g', groupStyle: 'OPEN', subParams: [{ type: 'TEXT', name: 'b' }] }],
    says: /groupStyle/,
  },
  {
    what: 'an unknown validator in a table of fields',
    parameters: [
      {
        type: 'PARAM_TABLE',
        name: 'b',
        paramTableColumns: [{ param: { type: 'TEXT', name: 'c', valueValidators: [{ type: 'X' }] } }],
      },
    ],
    says: /"b": X/,
  },
  { what: 'a condition on an unknown field', parameters: conditional('c', 'EQUALS'), says: /no field "c"/ },
  { what: 'an unknown condition', parameters: conditional('b', 'PRESENT'), says: /not PRESENT/ },
]

for (const { what, parameters, says, rule: expected = 'form' } of FORM) {
  test(`The lint refuses a form with ${what}`, () => {
    const findings = findingsOf(fixture({ code: 'data.gtmOnSuccess(data.b);', parameters }))
    assert.ok(
      findings.some(({ rule, message }) => rule === expected && says.test(message)),
      JSON.stringify(findings),
    )
  })
}

test('The lint refuses a field that the form does not have', () =>
  expectFinding({ code: 'data.gtmOnSuccess(data.c);' }, 'data.gtmOnSuccess(data.c)', 'style', /data\.c is no field/))

const INFOS: readonly { field: string; value: unknown; rule: 'info' | 'gallery' }[] = [
  { field: 'type', value: 'ZONE', rule: 'info' },
  { field: 'id', value: 'mine', rule: 'info' },
  { field: 'id', value: 'cvt_mine', rule: 'gallery' },
  { field: 'version', value: 2, rule: 'info' },
  { field: 'displayName', value: '', rule: 'info' },
  { field: 'description', value: 1, rule: 'gallery' },
  { field: 'brand', value: { thumbnail: PICTURE }, rule: 'gallery' },
  { field: 'brand', value: { displayName: 'Fixture' }, rule: 'gallery' },
  { field: 'brand', value: { displayName: 'Fixture', thumbnail: 'https://a.test/b.png' }, rule: 'gallery' },
  { field: 'containerContexts', value: ['WEB'], rule: 'info' },
  { field: 'categories', value: [], rule: 'gallery' },
  { field: 'categories', value: ['ANALYTICS', 'CHAT', 'EMAIL_MARKETING', 'UTILITY'], rule: 'gallery' },
  { field: 'categories', value: ['NONSENSE'], rule: 'gallery' },
]

for (const { field, value, rule } of INFOS) {
  test(`The lint finds ${JSON.stringify(value)} as ${field} of INFO by the rule ${rule}`, () => {
    const broken = { ...INFO, [field]: value }
    const findings = findingsOf(fixture({ info: JSON.stringify(broken) }))
    const found = findings.find((one) => one.rule === rule)
    assert.ok(found, JSON.stringify(findings))
    assert.ok(found.message.startsWith(field), found.message)
    assert.equal(isWarning(found), rule === 'gallery')
  })
}

test('A template that only the gallery would refuse has warnings only, as one whose style is not ours', () => {
  const parameters = [{ type: 'TEXT', name: 'unread', valueValidators: [{ type: 'REGEX', args: ['a'] }] }]
  const text = fixture({
    terms: '',
    info: JSON.stringify({ ...INFO, brand: {}, categories: [] }),
    code: "const getType = require('getType');\nconst hmac = require('hmacSha256');\ndata.gtmOnSuccess(hmac, data.b);",
    parameters,
    permissions: [permission('use_custom_private_keys'), permission('send_http', { allowedUrls: 'any' })],
    tests: scenarios({ 'Odd, name': 'runCode(nothing);' }),
  })
  const findings = findingsOf(text)
  const rules = new Set(findings.map(({ rule }) => rule))
  assert.deepEqual([...rules].toSorted(), ['gallery', 'runner', 'scenario', 'style', 'unused'])
  assert.ok(findings.every(isWarning))
})

test('Text before the first section is read past, with a warning', () => {
  const findings = findingsOf(`// Copyright\n${fixture()}`)
  assert.deepEqual(
    findings.map(({ rule, line }) => [rule, line]),
    [['style', 1]],
  )
})

test('A variable and a client need no outcome', () => {
  for (const type of ['MACRO', 'CLIENT']) {
    assert.deepEqual(findingsOf(fixture({ info: JSON.stringify({ ...INFO, type }), code: 'return 1;' })), [])
  }
})

test('The lint asks for the terms block', () => {
  for (const text of [fixture({ terms: '' }), fixture().replace(/___TERMS_OF_SERVICE___[\s\S]*?___INFO/, '___INFO')]) {
    assert.deepEqual(
      findingsOf(text).map(({ rule }) => rule),
      ['gallery'],
    )
  }
})

const SCENARIOS: readonly { what: string; tests: string; at: string; says: RegExp }[] = [
  {
    what: 'a name with a dot',
    tests: scenarios({ 'Sends 1.5': 'runCode({});' }),
    at: 'Sends 1.5',
    says: /letters, digits/,
  },
  {
    what: 'a name twice',
    tests: `${scenarios({ Same: 'runCode({});' })}\n- name: Same\n  code: fail();`,
    at: 'Same',
    says: /there twice/,
  },
  {
    what: 'a regex in a scenario',
    tests: scenarios({ A: 'runCode({});\nconst a = /b/;' }),
    at: 'const a = /b/',
    says: /Regex/,
  },
  {
    what: 'an undeclared name in a scenario',
    tests: scenarios({ A: 'runCode(nothing);' }),
    at: 'runCode(nothing)',
    says: /"nothing"/,
  },
  {
    what: 'a mock of nothing',
    tests: scenarios({ A: "mock('fetch', 1);\nrunCode({});" }),
    at: "mock('fetch'",
    says: /nothing called "fetch"/,
  },
  {
    what: 'a try in the setup',
    tests: `scenarios: []\nsetup: |-\n  try { fail(); } catch (e) { fail(); }`,
    at: 'try {',
    says: /"try"/,
  },
]

for (const { what, tests, at, says } of SCENARIOS) {
  test(`The lint warns of ${what}`, () => {
    const text = fixture({ tests })
    const found = findingsOf(text).find(({ message }) => says.test(message))
    assert.ok(found !== undefined)
    // The template is taken whatever its scenarios hold.
    assert.ok(isWarning(found))
    if (what !== 'a name twice') assert.equal(found.line, lineWith(text, at))
  })
}

test('A scenario may use what the setup declares', () => {
  const tests = `${scenarios({ A: "mock('getType', kind);\nrunCode({});" })}\nsetup: |-\n  const kind = 'text';\n  const JSON = require('JSON');`
  assert.deepEqual(findingsOf(fixture({ tests })), [])
})
