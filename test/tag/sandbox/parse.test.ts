import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTemplate, TemplateError } from '../../../tag/sandbox/index.ts'
import { fixture, lineWith, permission, scenarios } from './fixture.ts'

const NUL = String.fromCharCode(0)

test('A template is read into its sections with the line of each', () => {
  const text = fixture({
    code: '\nconst one = 1;\ndata.gtmOnSuccess();',
    parameters: [
      { type: 'TEXT', name: 'endpoint', defaultValue: 'https://' },
      {
        type: 'GROUP',
        name: 'more',
        subParams: [
          { type: 'RADIO', name: 'mode', radioItems: [{ value: 'a', subParams: [{ type: 'TEXT', name: 'deep' }] }] },
        ],
      },
    ],
    permissions: [permission('send_http', { allowedUrls: 'specific', urls: ['https://a.test/*'] })],
  })
  const template = parseTemplate(text)
  assert.equal(template.terms?.text.trim(), 'Some terms.')
  assert.equal(template.info.value.displayName, 'Fixture')
  assert.equal(text.split('\n')[template.code.line - 1], '')
  assert.deepEqual(
    template.parameters.map(({ name, line, defaultValue }) => ({
      name,
      found: lineWith(text, `"${name}"`) - line,
      defaultValue,
    })),
    [
      { name: 'endpoint', found: 2, defaultValue: 'https://' },
      { name: 'more', found: 2, defaultValue: undefined },
      { name: 'mode', found: 2, defaultValue: undefined },
      { name: 'deep', found: 2, defaultValue: undefined },
    ],
  )
  assert.deepEqual(template.permissions, [
    {
      publicId: 'send_http',
      line: lineWith(text, '"publicId": "send_http"'),
      params: { allowedUrls: 'specific', urls: ['https://a.test/*'] },
    },
  ])
})

test('Byte-order marks before the first section are no part of the text', () => {
  assert.equal(parseTemplate(`\uFEFF${fixture()}`).text, fixture())
  assert.equal(parseTemplate(`\uFEFF\uFEFF${fixture()}`).text, fixture())
})

test('Text before the first section is noted with its line', () => {
  assert.equal(parseTemplate(`\nHello\n${fixture()}`).preamble, 2)
  assert.equal(parseTemplate(`\n\n${fixture()}`).preamble, null)
})

test('A text that goes over the end of its line is read with the break', () => {
  const info = '{\n  "description": "one \\" and\ntwo",\n  "displayName": "three"\n}'
  const { value } = parseTemplate(fixture({ info })).info
  assert.deepEqual(value, { description: 'one " and\ntwo', displayName: 'three' })
})

test('Scenarios and setup are read with the lines of their code', () => {
  const tests = `${scenarios({ 'First one': 'const a = 1;\nfail();', 'Second one': 'fail();' })}
- name: Quoted
  code: "fail('now');"
setup: |-
  const JSON = require('JSON');`
  const text = fixture({ tests })
  const suite = parseTemplate(text).tests
  assert.deepEqual(
    suite.scenarios.map(({ name, line, code }) => ({ name, line, code })),
    [
      {
        name: 'First one',
        line: lineWith(text, 'First one'),
        code: { line: lineWith(text, 'const a'), text: 'const a = 1;\nfail();' },
      },
      {
        name: 'Second one',
        line: lineWith(text, 'Second one'),
        code: { line: lineWith(text, 'Second one') + 2, text: 'fail();' },
      },
      {
        name: 'Quoted',
        line: lineWith(text, 'Quoted'),
        code: { line: lineWith(text, 'Quoted') + 1, text: "fail('now');" },
      },
    ],
  )
  assert.deepEqual(suite.setup, {
    line: lineWith(text, "const JSON = require('JSON')"),
    text: "const JSON = require('JSON');",
  })
})

test('A template that needs no permission may do without their section', () => {
  const text = fixture().replace(/___SERVER_PERMISSIONS___[\s\S]*?___TESTS___/, '___TESTS___')
  assert.deepEqual(parseTemplate(text).permissions, [])
})

const sound = fixture({ permissions: [permission('send_http')] })
const replaced = (part: string, by: string): string => sound.replace(part, by)

const BROKEN: readonly { what: string; text: string; at: string; says: RegExp; orLater?: true }[] = [
  { what: 'a missing section', text: replaced('___TESTS___', ''), at: 'end', says: /___TESTS___ is missing/ },
  {
    what: 'a doubled section',
    text: `${sound}___INFO___\n{}\n`,
    at: '___INFO___\n{}',
    says: /___INFO___ is there twice/,
  },
  {
    what: 'sections in another order',
    text: replaced('___TERMS_OF_SERVICE___', '___NOTES___\n\n___TERMS_OF_SERVICE___'),
    at: '___TERMS_OF_SERVICE___',
    says: /must come before ___NOTES___/,
  },
  {
    what: 'an unknown section',
    text: replaced('___NOTES___', '___NOTE___\n___NOTES___'),
    at: '___NOTE___',
    says: /no section/,
  },
  {
    what: 'a marker with spaces',
    text: replaced('___NOTES___', '___NOTES___ '),
    at: '___NOTES___ ',
    says: /stand alone/,
  },
  {
    what: 'a web template',
    text: replaced('___SANDBOXED_JS_FOR_SERVER___', '___SANDBOXED_JS_FOR_WEB_TEMPLATE___'),
    at: '___SANDBOXED_JS_FOR_WEB_TEMPLATE___',
    says: /web container/,
  },
  {
    what: 'broken JSON',
    text: replaced('"version": 1,', '"version": 1'),
    at: '"securityGroups"',
    says: /___INFO___ is not JSON/,
  },
  {
    what: 'JSON that ends early',
    orLater: true,
    text: replaced('[]\n\n\n___SANDBOXED', '[\n\n\n___SANDBOXED'),
    at: '[\n\n\n___SANDBOXED',
    says: /PARAMETERS___ is not JSON/,
  },
  { what: 'parameters that are no list', text: fixture({ parameters: {} }), at: '\n{}', says: /must be a list/ },
  {
    what: 'a parameter without a name',
    text: fixture({ parameters: [{ type: 'TEXT' }] }),
    at: '{\n    "type": "TEXT"',
    says: /type and a name/,
  },
  { what: 'an INFO that is no object', text: fixture({ info: '[]' }), at: '\n[]', says: /must be an object/ },
  {
    what: 'a permission without an id',
    text: fixture({ permissions: [{ instance: {} }] }),
    at: '{\n    "instance"',
    says: /publicId/,
  },
  {
    what: 'another version of a permission',
    text: replaced('"versionId": "1"', '"versionId": "2"'),
    at: '{\n    "instance"',
    says: /versionId/,
  },
  {
    what: 'a parameter of an unknown type',
    text: replaced('"param": []', '"param": [{ "key": "a", "value": { "type": 9 } }]'),
    at: '{\n    "instance"',
    says: /type 1 \(string\)/,
  },
  {
    what: 'tests that are no YAML',
    orLater: true,
    text: fixture({ tests: 'scenarios: [\n' }),
    at: 'scenarios:',
    says: /not YAML|not.*end with/,
  },
  {
    what: 'tests without scenarios',
    text: fixture({ tests: 'setup: a' }),
    at: 'setup:',
    says: /scenarios must be a list/,
  },
  {
    what: 'an empty tests section',
    orLater: true,
    text: fixture({ tests: ' ' }),
    at: '___TESTS___',
    says: /needs "scenarios:"/,
  },
  {
    what: 'a scenario without code',
    text: fixture({ tests: 'scenarios:\n- name: a' }),
    at: 'name: a',
    says: /name and code/,
  },
  {
    what: 'an unknown key of a scenario',
    text: fixture({ tests: 'scenarios:\n- name: a\n  code: b\n  skip: c' }),
    at: 'skip:',
    says: /name and code/,
  },
  { what: 'a NUL byte', text: replaced('data.gtm', `${NUL}data.gtm`), at: NUL, says: /U\+0000/ },
  {
    what: 'a carriage return',
    text: replaced('data.gtmOnSuccess();', 'data.gtmOnSuccess();\r'),
    at: '\r',
    says: /U\+000D/,
  },
  { what: 'a byte-order mark in mid-text', text: replaced('Created', '\uFEFFCreated'), at: '\uFEFF', says: /U\+FEFF/ },
]

for (const { what, text, at, says, orLater = false } of BROKEN) {
  test(`A template with ${what} is refused with its line`, () => {
    assert.throws(
      () => parseTemplate(text),
      (error) => {
        assert.ok(error instanceof TemplateError)
        const found = error.findings.find(({ message }) => says.test(message))
        assert.ok(found !== undefined, error.message)
        const start = at.startsWith('\n') ? 1 : 0
        const expected = at === 'end' ? text.split('\n').length : lineWith(text, at) + start
        // Where the text ends too early, the reader notices it at the end.
        if (orLater) assert.ok(found.line >= expected)
        else assert.equal(found.line, expected, found.message)
        return true
      },
    )
  })
}

test('All that is wrong is reported at once', () => {
  const text = fixture({ info: '{', tests: 'scenarios: 1' })
  assert.throws(
    () => parseTemplate(text),
    (error) => error instanceof TemplateError && error.findings.length === 2,
  )
})
