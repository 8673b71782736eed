import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { lintTemplate, parseTemplate, runTemplateTests } from '../../tag/sandbox/index.ts'
import { ANY_URL, fixture, permission, scenarios } from './sandbox/fixture.ts'

const GUIDE = join(import.meta.dirname, '../../docs/tag.md')

async function snippet(): Promise<string> {
  const [, found] = /```js\n(const sendHttpRequest = [\s\S]*?)```/.exec(await readFile(GUIDE, 'utf8')) ?? []
  assert.ok(found !== undefined)
  return found
}

/** What stands around a request in templates of vendors, with a promise and with a callback. */
const REQUESTS = {
  promise: `sendHttpRequest('https://vendor.example/', { method: 'POST' }, 'body').then(
  (result) => result.statusCode < 300 ? data.gtmOnSuccess() : data.gtmOnFailure(), () => data.gtmOnFailure());`,
  callback: `sendHttpRequest('https://vendor.example/', (status) => status < 300 ? data.gtmOnSuccess() : data.gtmOnFailure(),
  { method: 'POST' }, 'body');`,
}

const HEARD = `let heard = [];
mock('sendMessage', (type, message) => { heard.push([type, message]); });
const data = { gtmTagId: 42 };
`

const answered = (send: string, status: number, outcome: string) => `${HEARD}
mock('sendHttpRequest', ${send});
runCode(data);
assertThat(heard).isEqualTo([['tagwarden_status', { tag: 42, status: ${status} }]]);
assertApi('${outcome}').wasCalled();`

const promised = (settle: string) =>
  `(url, options, body) => require('Promise').create((resolve, reject) => { assertThat(body).isEqualTo('body'); ${settle} })`

const CASES = {
  promise: {
    'an answer': answered(promised('resolve({ statusCode: 204 });'), 2, 'gtmOnSuccess'),
    'a refusal': answered(promised('resolve({ statusCode: 400 });'), 4, 'gtmOnFailure'),
    'no answer': answered(promised("reject({ reason: 'timed_out' });"), 0, 'gtmOnFailure'),
    'a name where the container tells no id': `${HEARD}
mock('sendHttpRequest', ${promised('resolve({ statusCode: 503 });')});
runCode({ tagwardenTag: 'Meta CAPI' });
assertThat(heard).isEqualTo([['tagwarden_status', { tag: 'Meta CAPI', status: 5 }]]);`,
  },
  callback: {
    'an answer': answered(
      "(url, call, options, body) => { assertThat(body).isEqualTo('body'); call(302, {}, ''); }",
      3,
      'gtmOnFailure',
    ),
    'no answer': answered("(url, call) => call(0, {}, '')", 0, 'gtmOnSuccess'),
  },
} as const

for (const kind of ['promise', 'callback'] as const) {
  test(`the snippet of the guide reports the class of the answer and changes nothing else: ${kind}`, async () => {
    const template = parseTemplate(
      fixture({
        code: `${await snippet()}\n${REQUESTS[kind]}`,
        parameters: [{ type: 'TEXT', name: 'tagwardenTag', displayName: 'Tag', simpleValueType: true }],
        permissions: [ANY_URL, permission('use_message', { allowedActions: 'any' })],
        tests: scenarios(CASES[kind]),
      }),
    )
    assert.deepEqual(lintTemplate(template), [])
    assert.deepEqual(
      runTemplateTests(template).map(({ name, error }) => [name, error]),
      Object.keys(CASES[kind]).map((name) => [name, null]),
    )
  })
}
