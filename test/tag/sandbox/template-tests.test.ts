import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTemplate, runTemplateTests, type ScenarioResult } from '../../../tag/sandbox/index.ts'
import { ANY_EVENT_DATA, ANY_URL, fixture, lineWith, permission, scenarios } from './fixture.ts'

const CODE = `const addEventCallback = require('addEventCallback');
const getEventData = require('getEventData');
const sendHttpRequest = require('sendHttpRequest');
const templateDataStorage = require('templateDataStorage');
const name = getEventData('event_name');
addEventCallback((containerId, event) => {
  sendHttpRequest(data.endpoint, { method: 'POST' }, name + ' ' + event.tags.length).then(
    (answer) => templateDataStorage.setItemCopy('status', answer.statusCode),
    (failure) => templateDataStorage.setItemCopy('status', failure.reason)
  );
});
data.gtmOnSuccess();`

const PERMISSIONS = [permission('read_event_metadata'), ANY_EVENT_DATA, ANY_URL, permission('access_template_storage')]

const SETUP = `setup: |-
  const Promise = require('Promise');
  const storage = {};
  let callback;
  mock('getEventData', 'purchase');
  mock('addEventCallback', (given) => { callback = given; });
  mockObject('templateDataStorage', { setItemCopy: (key, value) => { storage[key] = value; } });`

const run = (codes: Record<string, string>, setup = SETUP, code = CODE, permissions: unknown[] = PERMISSIONS) => {
  const parameters = [{ type: 'TEXT', name: 'endpoint' }]
  const text = fixture({ code, permissions, parameters, tests: `${scenarios(codes)}\n${setup}` })
  return { text, results: runTemplateTests(parseTemplate(text)) }
}

const ASSERTIONS_HOLD = `mock('sendHttpRequest', () => Promise.create((resolve) => resolve({ statusCode: 200 })));
runCode({ endpoint: 'https://a.test/' });
assertApi('gtmOnSuccess').wasCalled();
assertApi('gtmOnFailure').wasNotCalled();
assertApi('getEventData').wasCalledWith('event_name');
assertApi('sendHttpRequest').wasNotCalled();
callback('GTM-1', { tags: [{ id: 1 }] });
assertApi('sendHttpRequest').wasCalledWith('https://a.test/', { method: 'POST' }, 'purchase 1');
assertApi('sendHttpRequest').wasNotCalledWith('https://a.test/');`

test('Scenarios run in order, each with mocks of its own', () => {
  const { results } = run({
    'All holds': ASSERTIONS_HOLD,
    'Mocks are gone': "runCode({});\nassertApi('sendHttpRequest').wasNotCalled();\nassertThat(storage).isEqualTo({});",
  })
  assert.deepEqual(outcomes(results), [
    ['All holds', null],
    ['Mocks are gone', null],
  ])
})

test('A promise is settled when runCode returns', () => {
  const { results } = run({
    Resolved: `mock('addEventCallback', (given) => given('GTM-1', { tags: [] }));
mock('sendHttpRequest', () => Promise.create((resolve) => resolve({ statusCode: 204 })));
runCode({});
assertThat(storage.status).isEqualTo(204);`,
    Rejected: `mock('addEventCallback', (given) => given('GTM-1', { tags: [] }));
mock('sendHttpRequest', () => Promise.create((resolve, reject) => reject({ reason: 'timed_out' })));
runCode({});
assertThat(storage.status).isEqualTo('timed_out');`,
    'Made by hand': `mock('addEventCallback', (given) => given('GTM-1', { tags: [] }));
mock('sendHttpRequest', () => ({ then: (settled) => settled({ statusCode: 500 }) }));
runCode({});
assertThat(storage.status).isEqualTo(500);`,
  })
  assert.deepEqual(
    outcomes(results).map(([, error]) => error),
    [null, null, null],
  )
})

test('Promises chain, wait for each other and end', () => {
  const { results } = run({
    Chain: `const seen = [];
Promise.create((resolve) => resolve(1))
  .then((value) => value + 1)
  .then((value) => Promise.create((resolve) => resolve(value + 1)))
  .then((value) => { seen.push(value); return Promise.create((resolve, reject) => reject('no')); })
  .catch((reason) => { seen.push(reason); return 'on'; })
  .finally(() => { seen.push('finally'); })
  .then((value) => { seen.push(value); });
Promise.all([Promise.create((resolve) => resolve('a')), 'b']).then((values) => { seen.push(values); });
Promise.all([Promise.create((resolve, reject) => reject('c'))]).then(fail, (reason) => { seen.push(reason); });
Promise.all([]).then((values) => { seen.push(values.length); });
runCode({});
assertThat(seen).containsExactly(3, 'no', 'finally', 'on', ['a', 'b'], 'c', 0);`,
  })
  assert.deepEqual(outcomes(results), [['Chain', null]])
})

const FAILING: readonly { what: string; code: string; at?: string; says: RegExp; setup?: string }[] = [
  {
    what: 'an assertion on a value',
    code: '\nassertThat(1, "Count").isEqualTo(2);',
    at: 'assertThat(1',
    says: /Count: 1 isEqualTo\(2\)/,
  },
  {
    what: 'an API that was not called',
    code: "assertApi('sendHttpRequest').wasCalled();",
    at: "assertApi('sendHttp",
    says: /should have been called; it was not called/,
  },
  {
    what: 'an API that was called otherwise',
    code: "runCode({});\nassertApi('getEventData').wasCalledWith('a');",
    at: "assertApi('getEventData')",
    says: /calls: \("event_name"\)/,
  },
  { what: 'fail', code: "fail('Not here');", at: "fail('Not", says: /Not here/ },
  {
    what: 'an exception of the template',
    code: "mock('getEventData', () => undefined.a);\nrunCode({});",
    at: "mock('getEventData', ()",
    says: /TypeError/,
  },
  { what: 'an unknown object', code: "mockObject('fetch', {});", says: /no API "fetch"/ },
  { what: 'assertApi on an unknown API', code: "assertApi('fetch').wasCalled();", says: /no API "fetch"/ },
  {
    what: 'mock of an object API by something else',
    code: "mock('BigQuery', 1);",
    says: /its mock must be one, not 1/,
  },
  { what: 'an API that is not played', code: "require('hmacSha256')('a', 'b');", says: /does not play hmacSha256/ },
  {
    what: 'a function of an object that is not played',
    code: "require('BigQuery').insert();",
    says: /not play BigQuery/,
  },
  { what: 'mockObject of a function API', code: "mockObject('getType', {});", says: /use mock\./ },
  {
    what: 'a rejection that nobody handles',
    code: "Promise.create((resolve, reject) => reject('lost'));",
    says: /"lost"/,
  },
  { what: 'an exception in callLater', code: "require('callLater')(() => undefined.a);", says: /TypeError/ },
]

for (const { what, code, at, says } of FAILING) {
  test(`A scenario fails by ${what}`, () => {
    const { text, results } = run({ Failing: code })
    const [result] = results
    assert.equal(result?.passed, false)
    assert.match(result?.error ?? '', says)
    if (at !== undefined) assert.equal(result?.line, lineWith(text, at))
  })
}

test('An exception of the template names its line', () => {
  const { text, results } = run({ Throws: 'runCode({});' }, 'setup: ""', 'const a = data.b.c;\ndata.gtmOnSuccess(a);')
  assert.match(results[0]?.error ?? '', new RegExp(`line ${lineWith(text, 'data.b.c')} of the template`))
})

test('What would leave the unit test must be mocked', () => {
  for (const [name, call] of [
    ['sendHttpRequest', "('https://a.test/')"],
    ['getClientName', '()'],
  ] as const) {
    const { results } = run({ Unmocked: `require('${name}')${call};` }, 'setup: ""')
    assert.match(results[0]?.error ?? '', /must be mocked/)
  }
})

test('Without a mock there is an event without data, in a container that previews', () => {
  const code = `const version = require('getContainerVersion')();
if (require('getAllEventData')().event_name === undefined && require('getEventData')('a') === undefined) {
  if (version.previewMode && version.debugMode) data.gtmOnSuccess();
}`
  const { results } = run(
    { Unmocked: "runCode({});\nassertApi('gtmOnSuccess').wasCalled();\nassertApi('getAllEventData').wasCalled();" },
    'setup: ""',
    code,
    [ANY_EVENT_DATA, permission('read_container_data')],
  )
  assert.deepEqual(outcomes(results), [['Unmocked', null]])
})

test('A scenario that needs what is not played says so, and a mock of nothing does no harm', () => {
  const { results } = run({
    Unplayed: "require('runContainer')({});",
    Failed: 'fail();',
    Harmless: "mock('injectScript', 1);\nrunCode({});",
  })
  assert.deepEqual(
    results.map(({ passed, isUnplayed }) => [passed, isUnplayed]),
    [
      [false, true],
      [false, false],
      [true, false],
    ],
  )
})

test('The request behind an event is empty, and what is set on its response goes nowhere', () => {
  const { results } = run({
    Request: `assertThat(require('getRequestHeader')('host')).isUndefined();
assertThat(require('getCookieValues')('_ga')).isEqualTo([]);
assertThat(require('getRequestPath')()).isEqualTo('/');
require('setResponseStatus')(404);
require('setCookie')('a', 'b', {});
assertApi('setCookie').wasCalledWith('a', 'b', {});`,
  })
  assert.deepEqual(outcomes(results), [['Request', null]])
})

test('An object of functions is mocked by an object, or by a function that gives one', () => {
  const code = `const BigQuery = require('BigQuery');
BigQuery.insert({ tableId: 'a' }, [{ b: 1 }]).then(data.gtmOnSuccess, data.gtmOnFailure);`
  const scenario = (mocked: string) => `let rows = [];
const insert = (table, given) => {
  rows = given;
  return require('Promise').create((resolve) => resolve());
};
${mocked}
runCode({});
assertThat(rows).isEqualTo([{ b: 1 }]);
assertApi('gtmOnSuccess').wasCalled();`
  const { results } = run(
    {
      Object: scenario("mock('BigQuery', { insert: insert });"),
      Function: scenario("mock('BigQuery', () => ({ insert: insert }));"),
      Named: scenario("mockObject('BigQuery', { insert: insert });"),
    },
    'setup: ""',
    code,
    [permission('access_bigquery')],
  )
  assert.deepEqual(
    outcomes(results).map(([, error]) => error),
    [null, null, null],
  )
})

test('An API whose permission is missing is refused, unless it is mocked', () => {
  const code = "require('templateDataStorage').clear();\ndata.gtmOnSuccess();"
  const { results } = run(
    { Refused: 'runCode({});', Mocked: "mockObject('templateDataStorage', { clear: () => {} });\nrunCode({});" },
    'setup: ""',
    code,
    [],
  )
  assert.match(results[0]?.error ?? '', /access_template_storage, which is not declared/)
  assert.equal(results[1]?.error, null)
})

const MATCHERS: readonly [holds: string, fails: string][] = [
  ['(undefined).isUndefined()', '(1).isUndefined()'],
  ['(1).isDefined()', '(undefined).isDefined()'],
  ['(null).isNull()', '(0).isNull()'],
  ['(0).isNotNull()', '(null).isNotNull()'],
  ['(true).isTrue()', '(1).isTrue()'],
  ['(false).isFalse()', '(0).isFalse()'],
  ['(1).isTruthy()', '(0).isTruthy()'],
  ["('').isFalsy()", "('a').isFalsy()"],
  ['(0 / 0).isNaN()', '(1).isNaN()'],
  ['(1).isNotNaN()', '(0 / 0).isNotNaN()'],
  ['([]).isArray()', '({}).isArray()'],
  ['(true).isBoolean()', '(1).isBoolean()'],
  ['(fail).isFunction()', '(1).isFunction()'],
  ['(1).isNumber()', "('1').isNumber()"],
  ['({}).isObject()', '([]).isObject()'],
  ["('a').isString()", '(1).isString()'],
  ['({ a: [1] }).isEqualTo({ a: [1] })', '({ a: [1] }).isEqualTo({ a: [2] })'],
  ['({ a: 1 }).isNotEqualTo({ a: undefined })', '({ a: 1 }).isNotEqualTo({ a: 1 })'],
  ['(1).isStrictlyEqualTo(1)', '({}).isStrictlyEqualTo({})'],
  ['({}).isNotStrictlyEqualTo({})', '(1).isNotStrictlyEqualTo(1)'],
  ['([1]).isAnyOf([2], [1])', '(1).isAnyOf(2, 3)'],
  ['(1).isNoneOf(2, 3)', '(1).isNoneOf(2, 1)'],
  ['(2).isGreaterThan(1)', '(1).isGreaterThan(1)'],
  ['(1).isGreaterThanOrEqualTo(1)', '(0).isGreaterThanOrEqualTo(1)'],
  ['(0).isLessThan(1)', '(1).isLessThan(1)'],
  ['(1).isLessThanOrEqualTo(1)', "('0').isLessThanOrEqualTo(1)"],
  ["('abc').contains('b', 'c')", "('abc').contains('b', 'd')"],
  ['([1, { a: 2 }]).contains({ a: 2 })', '([1]).contains(2)'],
  ["('abc').doesNotContain('d')", "('abc').doesNotContain('b')"],
  ['([1, 2]).containsExactly(2, 1)', '([1, 2, 2]).containsExactly(2, 1)'],
  ['([1, 2]).doesNotContainExactly(1)', '([1]).doesNotContainExactly(1)'],
  ["('abc').hasLength(3)", '([1]).hasLength(2)'],
  ['({}).isEmpty()', '([1]).isEmpty()'],
  ["('a').isNotEmpty()", '(1).isNotEmpty()'],
]

for (const [holds, fails] of MATCHERS) {
  test(`assertThat${holds} holds and assertThat${fails} does not`, () => {
    const { results } = run({ Holds: `assertThat${holds};`, Fails: `assertThat${fails};` })
    assert.deepEqual(
      results.map(({ passed }) => passed),
      [true, false],
    )
  })
}

const outcomes = (results: readonly ScenarioResult[]) => results.map(({ name, error }) => [name, error])
