import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectFinding } from './expect-finding.ts'
import { findingsOf, fixture, INFO, lineWith, scenarios } from './fixture.ts'

const validated = (type: string, args?: unknown[]) => [{ type: 'TEXT', name: 'b', valueValidators: [{ type, args }] }]
const conditional = (paramName: string, type: string) => [
  { type: 'TEXT', name: 'b', enablingConditions: [{ paramName, paramValue: 1, type }] },
]

const FORM: readonly { what: string; parameters: unknown; says: RegExp }[] = [
  {
    what: 'a field that the code never reads',
    parameters: [
      { type: 'TEXT', name: 'b' },
      { type: 'TEXT', name: 'c' },
    ],
    says: /"c" is never read/,
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
  { what: 'a pattern without anchors', parameters: validated('REGEX', ['https://.+']), says: /anchored/ },
  { what: 'a pattern that is none', parameters: validated('REGEX', ['^($']), says: /do not fit/ },
  { what: 'a length without bounds', parameters: validated('STRING_LENGTH', [1]), says: /do not fit/ },
  {
    what: 'a column with an unknown validator',
    parameters: [
      { type: 'SIMPLE_TABLE', name: 'b', simpleTableColumns: [{ name: 'c', valueValidators: [{ type: 'X' }] }] },
    ],
    says: /"b": X/,
  },
  { what: 'a condition on an unknown field', parameters: conditional('c', 'EQUALS'), says: /no field "c"/ },
  { what: 'an unknown condition', parameters: conditional('b', 'PRESENT'), says: /not PRESENT/ },
]

for (const { what, parameters, says } of FORM) {
  test(`The lint refuses a form with ${what}`, () => {
    const findings = findingsOf(fixture({ code: 'data.gtmOnSuccess(data.b);', parameters }))
    assert.ok(
      findings.some(({ rule, message }) => rule === 'form' && says.test(message)),
      JSON.stringify(findings),
    )
  })
}

test('The lint refuses a field that the form does not have', () =>
  expectFinding({ code: 'data.gtmOnSuccess(data.c);' }, 'data.gtmOnSuccess(data.c)', 'form', /data\.c is no field/))

const INFOS: readonly { field: string; value: unknown }[] = [
  { field: 'type', value: 'MACRO' },
  { field: 'id', value: 'mine' },
  { field: 'version', value: 2 },
  { field: 'displayName', value: '' },
  { field: 'description', value: 1 },
  { field: 'brand', value: {} },
  { field: 'containerContexts', value: ['WEB'] },
  { field: 'categories', value: [] },
  { field: 'categories', value: ['ANALYTICS', 'CHAT', 'EMAIL_MARKETING', 'UTILITY'] },
  { field: 'categories', value: ['NONSENSE'] },
]

for (const { field, value } of INFOS) {
  test(`The lint refuses ${JSON.stringify(value)} as ${field} of INFO`, () => {
    const findings = findingsOf(fixture({ info: JSON.stringify({ ...INFO, [field]: value }) }))
    assert.deepEqual(
      findings.map(({ rule, message }) => [rule, message.split(/[ .]/)[0]]),
      [['info', field]],
    )
  })
}

test('The lint asks for the terms block', () => {
  for (const text of [fixture({ terms: '' }), fixture().replace(/___TERMS_OF_SERVICE___[\s\S]*?___INFO/, '___INFO')]) {
    assert.deepEqual(
      findingsOf(text).map(({ rule }) => rule),
      ['terms'],
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
    what: 'a try in the setup',
    tests: `scenarios: []\nsetup: |-\n  try { fail(); } catch (e) { fail(); }`,
    at: 'try {',
    says: /"try"/,
  },
]

for (const { what, tests, at, says } of SCENARIOS) {
  test(`The lint refuses ${what}`, () => {
    const text = fixture({ tests })
    const found = findingsOf(text).find(({ message }) => says.test(message))
    assert.ok(found !== undefined)
    if (what !== 'a name twice') assert.equal(found.line, lineWith(text, at))
  })
}

test('A scenario may use what the setup declares', () => {
  const tests = `${scenarios({ A: "mock('getType', kind);\nrunCode({});" })}\nsetup: |-\n  const kind = 'text';\n  const JSON = require('JSON');`
  assert.deepEqual(findingsOf(fixture({ tests })), [])
})
